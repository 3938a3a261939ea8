"""How each agent is called, pointed at the scripted model, and told what a scenario needs.

An entry gets a `Run` and returns a `Launch`. Keys are made up. Telemetry and updates are off.
"""

import json
import shlex
from dataclasses import dataclass, field

from model import NAME
from scenarios import PROMPT

KEY = "test-key"


@dataclass
class Launch:
    args: list
    env: dict = field(default_factory=dict)
    files: dict = field(default_factory=dict)  # below HOME
    before: list = field(default_factory=list)  # a command that runs first, such as a login


ALL = {}


def agent(name, can=""):
    """Registers an entry. `can` lists the needs and the variants that the agent knows."""

    def keep(entry):
        ALL[name] = entry
        entry.can = set(can.split())
        return entry

    return keep


def npm_bin(run, name):
    return str(run.place / "node_modules/.bin" / name)


def venv_bin(run, name):
    return str(run.place / "venv/bin" / name)


def without(args, *words):
    return [arg for arg in args if arg not in words]


def mcp_servers(run):
    """The MCP server in the form that most agents share."""
    return {"lab": {"command": run.mcp[0], "args": run.mcp[1:]}} if run.needs("mcp") else {}


def mcp_toml(run):
    return f'[mcp_servers.lab]\ncommand = "{run.mcp[0]}"\nargs = {json.dumps(run.mcp[1:])}\n' if run.needs("mcp") else ""


@agent("claude", can="deny mcp resume partial")
def claude(run):
    args = [npm_bin(run, "claude"), "-p", PROMPT, "--output-format", "stream-json", "--verbose", "--model", "claude-sonnet-4-5"]
    if not run.needs("deny"):
        args += ["--allowedTools", "Bash,Task,Agent,mcp__lab__echo"]
    if run.needs("mcp"):
        args += ["--mcp-config", json.dumps({"mcpServers": mcp_servers(run)})]
    if run.needs("partial"):
        args += ["--include-partial-messages"]
    if run.needs("resume"):
        args += ["--continue"]
    env = {
        "ANTHROPIC_BASE_URL": run.url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "2",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
    }
    return Launch(args, env, {".claude.json": json.dumps({"hasCompletedOnboarding": True, "autoUpdates": False})})


@agent("codex", can="mcp resume")
def codex(run):
    config = f"""
model = "{NAME}"
model_provider = "lab"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.lab]
name = "lab"
base_url = "{run.url}/v1"
env_key = "LAB_KEY"
wire_api = "responses"
request_max_retries = 2
stream_max_retries = 2
stream_idle_timeout_ms = 40000
[analytics]
enabled = false
[otel]
exporter = "none"
{mcp_toml(run)}"""
    verb = ["exec", "resume", "--last"] if run.needs("resume") else ["exec"]
    args = [npm_bin(run, "codex"), *verb, "--json", "--skip-git-repo-check", PROMPT]
    return Launch(args, {"LAB_KEY": KEY}, {".codex/config.toml": config})


@agent("copilot", can="deny mcp resume whole")
def copilot(run):
    args = [npm_bin(run, "copilot"), "-p", PROMPT, "--output-format", "json", "--no-auto-update"]
    args += ["--stream", "off" if run.needs("whole") else "on"]
    if not run.needs("deny"):
        args += ["--allow-all-tools"]
    if run.needs("mcp"):
        args += ["--additional-mcp-config", json.dumps({"mcpServers": {"lab": {"type": "local", "tools": ["*"], **mcp_servers(run)["lab"]}}})]
    if run.needs("resume"):
        args += ["--continue"]
    env = {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": run.url + "/v1",
        "COPILOT_PROVIDER_API_KEY": KEY,
        "COPILOT_MODEL": NAME,
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "100000",
        "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": "4000",
        # It unpacks itself into the cache on its first start.
        "XDG_CACHE_HOME": str(run.place / "cache"),
    }
    return Launch(args, env)


@agent("vibe", can="deny mcp resume")
def vibe(run):
    servers = f'[[mcp_servers]]\nname = "lab"\ntransport = "stdio"\ncommand = "{run.mcp[0]}"\nargs = {json.dumps(run.mcp[1:])}\n' if run.needs("mcp") else ""
    config = f"""
active_model = "scripted"
enable_telemetry = false
enable_update_checks = false
enable_auto_update = false
[[providers]]
name = "lab"
api_base = "{run.url}/v1"
api_key_env_var = "LAB_KEY"
api_style = "openai"
backend = "generic"
[[models]]
name = "{NAME}"
provider = "lab"
alias = "scripted"
input_price = 0.0
output_price = 0.0
{servers}"""
    args = [venv_bin(run, "vibe"), "--prompt", PROMPT, "--output", "streaming", "--trust"]
    if not run.needs("deny"):
        args += ["--auto-approve"]
    if run.needs("resume"):
        args += ["--continue"]
    env = {"LAB_KEY": KEY, "MISTRAL_API_KEY": KEY, "VIBE_HOME": f"{run.home}/.vibe"}
    return Launch(args, env, {".vibe/config.toml": config})


@agent("openhands", can="mcp resume")
def openhands(run):
    args = [venv_bin(run, "openhands"), "--headless", "--json", "--override-with-envs", "-t", PROMPT]
    if run.needs("resume"):
        args += ["--resume", "--last"]
    env = {
        "LLM_API_KEY": KEY,
        "LLM_BASE_URL": run.url + "/v1",
        "LLM_MODEL": f"openai/{NAME}",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "OPENHANDS_SUPPRESS_BANNER": "1",
        "OH_TELEMETRY": "0",
    }
    files = {".openhands/mcp.json": json.dumps({"mcpServers": mcp_servers(run)})} if run.needs("mcp") else {}
    return Launch(args, env, files)


@agent("kimi", can="mcp resume")
def kimi(run):
    config = f"""
default_model = "scripted"
telemetry = false
[providers.lab]
type = "openai_legacy"
base_url = "{run.url}/v1"
api_key = "{KEY}"
[models.scripted]
provider = "lab"
model = "{NAME}"
max_context_size = 100000
"""
    args = [venv_bin(run, "kimi"), "--print", "--output-format=stream-json", "-p", PROMPT]
    if run.needs("mcp"):
        args += ["--mcp-config", json.dumps({"mcpServers": mcp_servers(run)})]
    if run.needs("resume"):
        args += ["--continue"]
    return Launch(args, {"KIMI_CLI_NO_AUTO_UPDATE": "1", "KIMI_SHARE_DIR": f"{run.home}/.kimi"}, {".kimi/config.toml": config})


@agent("kimi-code", can="mcp resume")
def kimi_code(run):
    config = f"""
default_model = "scripted"
[providers.lab]
type = "openai"
base_url = "{run.url}/v1"
api_key = "{KEY}"
[models.scripted]
provider = "lab"
model = "{NAME}"
max_context_size = 100000
"""
    args = [npm_bin(run, "kimi"), "-p", PROMPT, "--output-format", "stream-json"]
    if run.needs("resume"):
        args += ["--continue"]
    env = {"KIMI_CODE_HOME": f"{run.home}/.kimi-code", "KIMI_CODE_NO_AUTO_UPDATE": "1", "KIMI_DISABLE_TELEMETRY": "1"}
    files = {".kimi-code/config.toml": config}
    if run.needs("mcp"):
        files[".kimi-code/mcp.json"] = json.dumps({"mcpServers": mcp_servers(run)})
    return Launch(args, env, files)


@agent("pi", can="resume")
def pi(run):
    model = {
        "id": NAME,
        "name": "Scripted",
        "reasoning": False,
        "input": ["text"],
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        "contextWindow": 100000,
        "maxTokens": 4096,
    }
    provider = {"baseUrl": run.url + "/v1", "api": "openai-completions", "apiKey": KEY, "models": [model]}
    args = [npm_bin(run, "pi"), "--print", "--mode", "json", "--provider", "lab", "--model", NAME, PROMPT]
    if run.needs("resume"):
        args.insert(1, "--continue")
    files = {".pi/agent/models.json": json.dumps({"providers": {"lab": provider}}), ".pi/agent/settings.json": json.dumps({"enableInstallTelemetry": False})}
    return Launch(args, {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}, files)
