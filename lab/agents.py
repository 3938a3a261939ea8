"""How each agent is called, pointed at the scripted model, and told what a scenario needs.

An entry gets a `Run` and returns a `Launch`. Keys are made up; one that is empty is not set.
Telemetry and updates are off.
"""

import json
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path

from model import NAME
from scenarios import FALLBACK, PROMPT, SCHEMA, SECOND


@dataclass
class Launch:
    args: list
    env: dict = field(default_factory=dict)
    files: dict = field(default_factory=dict)  # below HOME
    before: list = field(default_factory=list)  # a command that runs first, such as a login
    sessions: str = ""  # where it saves its sessions, below HOME
    input: list = field(default_factory=list)  # messages by standard input: when, and what


ALL = {}
STOP_REASON = 'select(.result.stopReason) | .result.stopReason == "end_turn"'
RESULT = 'select(.type == "result") | .is_error == false'


def agent(name, can="", jq="", profile=""):
    """Registers an entry.

    `can` lists the needs and the variants that the agent knows. `jq` is the filter that people use
    to see whether the run succeeded.
    """

    def keep(entry):
        ALL[name] = entry
        entry.can = set(can.split())
        entry.jq = jq
        entry.profile = profile or name
        return entry

    return keep


@dataclass
class Expected:
    profile: str
    jq: str


# Forms of a stream that have another profile than the agent's usual one.
FORMS = {
    "acp": Expected("acp", STOP_REASON),
    "app-server": Expected(
        "codex-app-server", 'select(.method == "turn/completed") | .params.turn.status == "completed"'
    ),
}


def expected(run):
    """The profile and the jq filter of a recording."""
    if run["variant"] in FORMS:
        return FORMS[run["variant"]]
    entry = ALL[run["agent"]]
    return Expected(entry.profile, entry.jq)


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
    return (
        f'[mcp_servers.lab]\ncommand = "{run.mcp[0]}"\nargs = {json.dumps(run.mcp[1:])}\n'
        if run.needs("mcp")
        else ""
    )


def hooks(run, *events):
    """Hooks in the form that Claude's relatives share. `block` blocks what comes before a tool."""
    if not run.needs("hooks"):
        return {}
    seen = {"type": "command", "command": f"cat > /dev/null; echo seen | tee {run.home}/hooked"}
    block = {**seen, "command": f"{seen['command']}; echo not allowed >&2; exit 2"}
    fail = {**seen, "command": f"{seen['command']}; echo broken >&2; exit 1"}
    said = '{"continue": false, "stopReason": "no more today"}'
    halt = {**seen, "command": f"cat > /dev/null; touch {run.home}/hooked; echo '{said}'"}
    given = {
        "block": {0: block},
        "fails": dict.fromkeys(range(9), fail),
        "block-prompt": {2: block},
        "halt": {0: halt},
    }
    own = next((given[word] for word in given if run.needs(word)), {})
    return {
        event: [{"matcher": "*", "hooks": [own.get(number, seen)]}] for number, event in enumerate(events)
    }


CLAUDE_HOOKS = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "Stop")


def messages(run):
    """The messages that a run gets by standard input, in Claude's form."""

    def say(text):
        content = [{"type": "text", "text": text}]
        return json.dumps({"type": "user", "message": {"role": "user", "content": content}})

    def ask(what):
        return json.dumps({"type": "control_request", "request_id": what, "request": {"subtype": what}})

    if run.plan.scenario.calls == "interrupted":
        steps = [("", ask("initialize")), ("", say(PROMPT))]
        return [*steps, ("started", ask("interrupt")), ("started", say(SECOND))]
    return [("", say(PROMPT)), ("started" if run.needs("steer") else "answer", say(SECOND))]


def by_input(args):
    """The same command, with its messages by standard input."""
    return [*without(args, PROMPT), "--input-format", "stream-json"]


@agent("claude", can="plan max-turns deny mcp resume partial forward hooks block fails block-prompt halt input steer schema fallback", jq=RESULT)
def claude(run):
    args = [
        npm_bin(run, "claude"),
        "-p",
        PROMPT,
        "--output-format",
        "stream-json",
        "--verbose",
        "--model",
        "claude-sonnet-4-5",
    ]
    if not run.needs("deny"):
        args += ["--allowedTools", "Bash,Task,Agent,WebFetch,mcp__lab__echo"]
    if run.needs("plan"):
        args += ["--permission-mode", "plan"]
    if run.needs("max-turns"):
        args += ["--max-turns", "2"]
    if run.needs("mcp"):
        args += ["--mcp-config", json.dumps({"mcpServers": mcp_servers(run)})]
    if run.needs("partial"):
        args += ["--include-partial-messages"]
    if run.needs("forward"):
        args += ["--forward-subagent-text"]
    if run.needs("resume"):
        args += ["--continue"]
    if run.needs("schema"):
        args += ["--json-schema", json.dumps(SCHEMA)]
    if run.needs("fallback"):
        args += ["--fallback-model", FALLBACK]
    if run.needs("hooks"):
        args += ["--include-hook-events"]
    env = {
        "ANTHROPIC_BASE_URL": run.url,
        "ANTHROPIC_API_KEY": run.key,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "2",
        # Without it the tools of MCP servers are behind a search, and no request offers them.
        "ENABLE_TOOL_SEARCH": "false",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
    }
    files = {
        ".claude.json": json.dumps({"hasCompletedOnboarding": True, "autoUpdates": False}),
        ".claude/settings.json": json.dumps({"hooks": hooks(run, *CLAUDE_HOOKS)}),
    }
    launch = Launch(args, env, files, sessions=".claude/projects/**/*.jsonl")
    if run.needs("input"):
        launch.args, launch.input = by_input(args), messages(run)
    return launch


@agent("codex", can="plan mcp resume schema patch hooks block fails block-prompt halt app-server", jq='select(.type == "turn.completed")')
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
    files = {".codex/config.toml": config}
    if run.needs("plan"):
        files[".codex/config.toml"] = config.replace("danger-full-access", "read-only")
    if run.needs("schema"):
        args[-1:-1] = ["--output-schema", f"{run.home}/schema.json"]
        files["schema.json"] = json.dumps(SCHEMA)
    if run.needs("hooks"):
        args[-1:-1] = ["--dangerously-bypass-hook-trust"]
        files[".codex/hooks.json"] = json.dumps({"hooks": hooks(run, *CLAUDE_HOOKS)})
    if run.needs("app-server"):
        client = [sys.executable, str(Path(__file__).with_name("app_server.py"))]
        args = [*client, PROMPT, "--", args[0], "app-server"]
    return Launch(args, {"LAB_KEY": run.key}, files, sessions=".codex/sessions/**/*.jsonl")


@agent("copilot", can="deny mcp resume whole acp", jq='select(.type == "result") | .exitCode == 0')
def copilot(run):
    args = [npm_bin(run, "copilot"), "-p", PROMPT, "--output-format", "json", "--no-auto-update"]
    args += ["--stream", "off" if run.needs("whole") else "on"]
    if not run.needs("deny"):
        args += ["--allow-all-tools"]
    if run.needs("mcp"):
        args += [
            "--additional-mcp-config",
            json.dumps({"mcpServers": {"lab": {"type": "local", "tools": ["*"], **mcp_servers(run)["lab"]}}}),
        ]
    if run.needs("resume"):
        args += ["--continue"]
    if run.needs("acp"):
        args = [args[0], "--acp", "--no-auto-update"]
    env = {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": run.url + "/v1",
        "COPILOT_PROVIDER_API_KEY": run.key,
        "COPILOT_MODEL": NAME,
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "100000",
        "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": "4000",
        # It unpacks itself into the cache on its first start.
        "XDG_CACHE_HOME": str(run.place / "cache"),
    }
    return Launch(args, env)


@agent("vibe", can="plan max-turns deny mcp resume acp", jq='select(.role == "assistant") | .content | length > 0')
def vibe(run):
    servers = (
        f'[[mcp_servers]]\nname = "lab"\ntransport = "stdio"\ncommand = "{run.mcp[0]}"\nargs = {json.dumps(run.mcp[1:])}\n'
        if run.needs("mcp")
        else ""
    )
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
    if run.needs("plan"):
        args = [*without(args, "--auto-approve"), "--agent", "plan"]
    if run.needs("max-turns"):
        args += ["--max-turns", "2"]
    if run.needs("resume"):
        args += ["--continue"]
    if run.needs("acp"):
        args = [venv_bin(run, "vibe-acp")]
    env = {"LAB_KEY": run.key, "MISTRAL_API_KEY": run.key, "VIBE_HOME": f"{run.home}/.vibe"}
    return Launch(args, env, {".vibe/config.toml": config})


@agent("openhands", can="mcp resume", jq='select(.kind == "MessageEvent" and .source == "agent")')
def openhands(run):
    args = [venv_bin(run, "openhands"), "--headless", "--json", "--override-with-envs", "-t", PROMPT]
    if run.needs("resume"):
        args += ["--resume", "--last"]
    env = {
        "LLM_API_KEY": run.key,
        "LLM_BASE_URL": run.url + "/v1",
        "LLM_MODEL": f"openai/{NAME}",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "OPENHANDS_SUPPRESS_BANNER": "1",
        "OH_TELEMETRY": "0",
    }
    files = {".openhands/mcp.json": json.dumps({"mcpServers": mcp_servers(run)})} if run.needs("mcp") else {}
    return Launch(args, env, files)


@agent("kimi", can="max-turns mcp resume acp", jq='select(.role == "assistant") | .content | length > 0')
def kimi(run):
    config = f"""
default_model = "scripted"
telemetry = false
[providers.lab]
type = "openai_legacy"
base_url = "{run.url}/v1"
api_key = "{run.key}"
[models.scripted]
provider = "lab"
model = "{NAME}"
max_context_size = 100000
"""
    args = [venv_bin(run, "kimi"), "--print", "--output-format=stream-json", "-p", PROMPT]
    if run.needs("mcp"):
        args += ["--mcp-config", json.dumps({"mcpServers": mcp_servers(run)})]
    if run.needs("max-turns"):
        args += ["--max-steps-per-turn", "2"]
    if run.needs("resume"):
        args += ["--continue"]
    if run.needs("acp"):
        args = [args[0], "acp"]
    return Launch(
        args,
        {"KIMI_CLI_NO_AUTO_UPDATE": "1", "KIMI_SHARE_DIR": f"{run.home}/.kimi"},
        {".kimi/config.toml": config},
    )


@agent("kimi-code", can="mcp resume acp", jq='select(.role == "assistant") | .content | length > 0')
def kimi_code(run):
    config = f"""
default_model = "scripted"
[providers.lab]
type = "openai"
base_url = "{run.url}/v1"
api_key = "{run.key}"
[models.scripted]
provider = "lab"
model = "{NAME}"
max_context_size = 100000
"""
    args = [npm_bin(run, "kimi"), "-p", PROMPT, "--output-format", "stream-json"]
    if run.needs("resume"):
        args += ["--continue"]
    if run.needs("acp"):
        args = [args[0], "acp"]
    env = {
        "KIMI_CODE_HOME": f"{run.home}/.kimi-code",
        "KIMI_CODE_NO_AUTO_UPDATE": "1",
        "KIMI_DISABLE_TELEMETRY": "1",
    }
    files = {".kimi-code/config.toml": config}
    if run.needs("mcp"):
        files[".kimi-code/mcp.json"] = json.dumps({"mcpServers": mcp_servers(run)})
    return Launch(args, env, files)


PI_HOOK = """import { writeFileSync } from "node:fs";
export default (pi) => pi.on("tool_call", () => { writeFileSync(%s, "seen"); return %s ?? undefined; });
"""


@agent("pi", can="resume mcp hooks block script", jq='select(.type == "agent_end")')
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
    provider = {"baseUrl": run.url + "/v1", "api": "openai-completions", "apiKey": run.key, "models": [model]}
    args = [npm_bin(run, "pi"), "--print", "--mode", "json", "--provider", "lab", "--model", NAME, PROMPT]
    if run.needs("resume"):
        args.insert(1, "--continue")
    servers = {name: {**server, "exposure": "direct"} for name, server in mcp_servers(run).items()}
    tools = {"defaultTools": ["read", "bash", "codemode"]} if run.needs("script") else {}
    files = {
        ".pi/agent/models.json": json.dumps({"providers": {"lab": provider}}),
        ".pi/agent/settings.json": json.dumps({"enableInstallTelemetry": False, **tools}),
        ".pi/agent/mcp.json": json.dumps({"mcpServers": servers}),
    }
    if run.needs("hooks"):
        answer = {"block": True, "reason": "not allowed"} if run.needs("block") else None
        files[".pi/agent/extensions/hook.js"] = PI_HOOK % (json.dumps(f"{run.home}/hooked"), json.dumps(answer))
    return Launch(args, {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "PI_SKIP_VERSION_CHECK": "1"}, files)


@agent("qwen", can="plan max-turns deny mcp resume partial acp hooks block fails block-prompt halt input steer schema", jq=RESULT)
def qwen(run):
    args = [npm_bin(run, "qwen"), "-p", PROMPT, "--output-format", "stream-json"]
    if not run.needs("deny"):
        args += ["--yolo"]
    if run.needs("plan"):
        args = [*without(args, "--yolo"), "--approval-mode", "plan"]
    if run.needs("max-turns"):
        args += ["--max-session-turns", "2"]
    if run.needs("partial"):
        args += ["--include-partial-messages"]
    if run.needs("resume"):
        args += ["--continue"]
    if run.needs("schema"):
        args += ["--json-schema", json.dumps(SCHEMA)]
    if run.needs("acp"):
        args = [args[0], "--acp"]
    settings = {
        "hooks": hooks(run, *CLAUDE_HOOKS),
        "security": {"auth": {"selectedType": "openai"}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        "telemetry": {"enabled": False},
        # Otherwise the tools of MCP servers are behind a search, and no request offers them.
        "tools": {"toolSearch": {"enabled": False}},
        "mcpServers": mcp_servers(run),
    }
    env = {
        "OPENAI_API_KEY": run.key,
        "OPENAI_BASE_URL": run.url + "/v1",
        "OPENAI_MODEL": NAME,
        "QWEN_TELEMETRY_ENABLED": "false",
        "NO_BROWSER": "1",
    }
    launch = Launch(args, env, {".qwen/settings.json": json.dumps(settings)})
    if run.needs("input") and not run.needs("acp"):
        launch.args, launch.input = without(by_input(args), "-p"), messages(run)
    return launch


@agent("gemini", can="plan max-turns deny mcp resume acp hooks block fails block-prompt halt", jq='select(.type == "result") | .status == "success"')
def gemini(run):
    args = [npm_bin(run, "gemini"), "-p", PROMPT, "--output-format", "stream-json", "-m", "gemini-2.5-flash"]
    if not run.needs("deny"):
        args += ["--yolo"]
    if run.needs("plan"):
        args = [*without(args, "--yolo"), "--approval-mode", "plan"]
    if run.needs("resume"):
        args += ["--resume", "latest"]
    if run.needs("acp"):
        args = [args[0], "--acp", "-m", "gemini-2.5-flash"]
    settings = {
        "hooks": hooks(run, "BeforeTool", "AfterTool", "BeforeAgent", "SessionStart", "AfterAgent"),
        "model": {"maxSessionTurns": 2} if run.needs("max-turns") else {},
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        "telemetry": {"enabled": False},
        "tools": {"sandbox": False},
        "mcpServers": mcp_servers(run),
    }
    env = {
        "GEMINI_API_KEY": run.key,
        "GOOGLE_GEMINI_BASE_URL": run.url,
        "GEMINI_TELEMETRY_ENABLED": "false",
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_CLI_NO_RELAUNCH": "true",
    }
    return Launch(args, env, {".gemini/settings.json": json.dumps(settings)})


STEP = 'select(.type == "step_finish") | .part.reason == "stop"'


def opencode_config(run, schema):
    model = {"name": "Scripted", "tool_call": True, "limit": {"context": 100000, "output": 4096}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "lab",
        "options": {"baseURL": run.url + "/v1", "apiKey": run.key},
        "models": {NAME: model},
    }
    config = {
        "$schema": schema,
        "autoupdate": False,
        "share": "disabled",
        "model": f"lab/{NAME}",
        "small_model": f"lab/{NAME}",
        "permission": {"bash": "ask"} if run.needs("deny") else "allow",
        "provider": {"lab": provider},
    }
    if run.needs("mcp"):
        config["mcp"] = {"lab": {"type": "local", "command": run.mcp, "enabled": True}}
    return json.dumps(config)


@agent("opencode", can="plan deny mcp resume acp", jq=STEP)
def opencode(run):
    args = [npm_bin(run, "opencode"), "run", "--format", "json"]
    if run.needs("plan"):
        args += ["--agent", "plan"]
    if run.needs("acp"):
        args = [npm_bin(run, "opencode"), "acp"]
    if run.needs("resume"):
        args += ["--continue"]
    names = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
    env = {f"OPENCODE_DISABLE_{name}": "1" for name in names}
    args += [] if run.needs("acp") else [PROMPT]
    return Launch(
        args, env, {".config/opencode/opencode.json": opencode_config(run, "https://opencode.ai/config.json")}
    )


@agent("kilo", can="mcp resume acp", jq=STEP, profile="opencode kilo")
def kilo(run):
    args = [
        str(run.place / "node_modules/@kilocode/cli-linux-x64/bin/kilo"),
        "run",
        "--auto",
        "--format",
        "json",
    ]
    if run.needs("acp"):
        args = [args[0], "acp"]
    if run.needs("resume"):
        args += ["--continue"]
    names = (
        "AUTOUPDATE",
        "MODELS_FETCH",
        "LSP_DOWNLOAD",
        "DEFAULT_PLUGINS",
        "SESSION_INGEST",
        "PRESENCE",
        "CODEBASE_INDEXING",
    )
    env = {
        **{f"KILO_DISABLE_{name}": "1" for name in names},
        "KILO_TELEMETRY_LEVEL": "off",
        "KILO_NO_DAEMON": "1",
    }
    args += [] if run.needs("acp") else [PROMPT]
    return Launch(
        args, env, {".config/kilo/kilo.json": opencode_config(run, "https://app.kilo.ai/config.json")}
    )


@agent("cline", can="deny acp", jq='select(.type == "run_result") | .finishReason == "completed"')
def cline(run):
    settings = {"provider": "openai-compatible", "apiKey": run.key, "model": NAME, "baseUrl": run.url + "/v1"}
    provider = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    config = {
        "version": 1,
        "lastUsedProvider": "openai-compatible",
        "modes": {},
        "providers": {"openai-compatible": provider},
    }
    args = [npm_bin(run, "cline"), "--json", PROMPT]
    if run.needs("deny"):
        args[1:1] = ["--auto-approve", "false"]
    if run.needs("acp"):
        args = [args[0], "--acp"]
    env = {"CLINE_TELEMETRY_DISABLED": "1", "CLINE_DISABLE_AUTO_UPDATE": "1", "TELEMETRY_DISABLED": "1"}
    return Launch(args, env, {".cline/data/settings/providers.json": json.dumps(config)})


@agent("letta", can="partial", jq='select(.type == "result") | .subtype == "success"')
def letta(run):
    binary = venv_bin(run, "letta")
    login = [
        binary,
        "--backend",
        "local",
        "connect",
        "openai-compatible",
        "--base-url",
        run.url + "/v1",
        "--api-key",
        run.key,
    ]
    args = [
        binary,
        "-p",
        PROMPT,
        "--output-format",
        "stream-json",
        "--backend",
        "local",
        "--model",
        f"openai-compatible/{NAME}",
    ]
    if not run.needs("deny"):
        args += ["--yolo"]
    if run.needs("partial"):
        args += ["--include-partial-messages"]
    env = {
        "LETTA_LOCAL_BACKEND_DIR": f"{run.home}/backend",
        "LETTA_TELEMETRY": "0",
        "LETTA_CODE_TELEM": "0",
        "DISABLE_AUTOUPDATER": "1",
    }
    return Launch(args, env, {".letta/settings.json": "{}"}, before=login)


@agent("codebuddy", can="deny mcp resume partial acp hooks block fails block-prompt halt input steer", jq=RESULT)
def codebuddy(run):
    model = {
        "id": NAME,
        "name": "Scripted",
        "vendor": "lab",
        "apiKey": run.key,
        "url": run.url + "/v1/chat/completions",
        "maxInputTokens": 100000,
        "maxOutputTokens": 4096,
        "supportsToolCall": True,
        "supportsImages": False,
    }
    args = [
        str(run.place / "node_modules/@tencent-ai/agent-sdk/cli/bin/codebuddy"),
        "-p",
        PROMPT,
        "--output-format",
        "stream-json",
        "--model",
        NAME,
    ]
    if not run.needs("deny"):
        args += ["-y"]
    if run.needs("mcp"):
        args += ["--mcp-config", json.dumps({"mcpServers": mcp_servers(run)})]
    if run.needs("partial"):
        args += ["--include-partial-messages"]
    if run.needs("resume"):
        args += ["--continue"]
    if run.needs("acp"):
        args = [args[0], "--acp", "--model", NAME]
    env = {
        "CODEBUDDY_API_KEY": run.key,
        "CODEBUDDY_BASE_URL": run.url + "/v1",
        "CODEBUDDY_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    }
    files = {
        ".codebuddy/models.json": json.dumps({"models": [model], "availableModels": [NAME]}),
        ".codebuddy/settings.json": json.dumps({"hooks": hooks(run, *CLAUDE_HOOKS)}),
    }
    launch = Launch(args, env, files)
    if run.needs("input") and not run.needs("acp"):
        launch.args, launch.input = by_input(args), messages(run)
    return launch


@agent("gptme", can="markdown", jq='select(.role == "assistant") | .content | length > 0')
def gptme(run):
    form = [] if run.needs("markdown") else ["--tool-format", "tool"]
    args = [
        venv_bin(run, "gptme"),
        "--non-interactive",
        "--output-format",
        "json",
        "--model",
        f"local/{NAME}",
        *form,
        PROMPT,
    ]
    env = {"OPENAI_BASE_URL": run.url + "/v1", "OPENAI_API_KEY": run.key, "GPTME_CHECK": "false"}
    return Launch(args, env)


@agent("grok-cli", jq='select(.role == "assistant") | .content | length > 0')
def grok_cli(run):
    args = [npm_bin(run, "grok"), "-p", PROMPT, "-u", run.url + "/v1", "-k", run.key, "-m", NAME]
    return Launch(args)


@agent("omp", can="acp", jq='select(.type == "agent_end")', profile="pi omp")
def omp(run):
    config = f"""
providers:
  lab:
    baseUrl: {run.url}/v1
    api: openai-completions
    apiKey: {run.key}
    models:
      - id: {NAME}
        name: Scripted
        reasoning: false
        input: [text]
        cost: {{input: 0, output: 0, cacheRead: 0, cacheWrite: 0}}
        contextWindow: 100000
        maxTokens: 4096
"""
    program = str(run.place / "node_modules/@oh-my-pi/pi-coding-agent/dist/cli.js")
    args = [
        npm_bin(run, "bun"),
        program,
        "--print",
        "--mode",
        "json",
        "--provider",
        "lab",
        "--model",
        NAME,
        PROMPT,
    ]
    if run.needs("acp"):
        args = [*args[:2], "acp"]
    env = {"PI_OFFLINE": "1", "PI_TELEMETRY": "0", "OMP_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"}
    return Launch(args, env, {".omp/agent/models.yml": config})


@agent(
    "grok",
    can="plan max-turns messages partial acp",
    jq='select(.type == "end" or .type == "result") | .is_error != true',
    profile="grok grok-messages",
)
def grok(run):
    config = f"""
[models]
default = "scripted"
[model.scripted]
model = "{NAME}"
base_url = "{run.url}/v1"
env_key = "LAB_KEY"
name = "Scripted"
context_window = 100000
max_completion_tokens = 4096
[cli]
auto_update = false
"""
    form = "streaming-messages-json" if run.needs("messages") or run.needs("partial") else "streaming-json"
    args = [npm_bin(run, "grok"), "-p", PROMPT, "--output-format", form, "--always-approve", "-m", "scripted"]
    if run.needs("max-turns"):
        args += ["--max-turns", "2"]
    if run.needs("plan"):
        args = [*without(args, "--always-approve"), "--permission-mode", "plan"]
    if run.needs("partial"):
        args += ["--include-partial-messages"]
    if run.needs("acp"):
        args = [args[0], "agent", "stdio"]
    env = {
        "LAB_KEY": run.key,
        "XAI_API_KEY": run.key,
        "GROK_DISABLE_AUTOUPDATER": "1",
        "GROK_DISABLE_TELEMETRY": "1",
    }
    return Launch(args, env, {".grok/config.toml": config})


@agent("droid", can="plan acp hooks block fails block-prompt halt", jq='select(.type == "completion")')
def droid(run):
    model = {
        "model": NAME,
        "id": f"custom:{NAME}",
        "displayName": "Scripted",
        "baseUrl": run.url + "/v1",
        "apiKey": run.key,
        "provider": "generic-chat-completion-api",
        "maxOutputTokens": 4096,
    }
    args = [
        str(run.place / "node_modules/@factory/cli-linux-x64/bin/droid"),
        "exec",
        "--output-format",
        "stream-json",
    ]
    args += ["--skip-permissions-unsafe", "-m", f"custom:{NAME}", PROMPT]
    if run.needs("plan"):
        args = without(args, "--skip-permissions-unsafe")
    if run.needs("acp"):
        args = [args[0], "exec", "--output-format", "acp", "-m", f"custom:{NAME}"]
    settings = {"customModels": [model], "hooks": hooks(run, *CLAUDE_HOOKS)}
    env = {
        "FACTORY_API_KEY": run.key and "fk-" + run.key,
        "FACTORY_TELEMETRY": "0",
        "DROID_DISABLE_AUTO_UPDATE": "1",
    }
    return Launch(args, env, {".factory/settings.json": json.dumps(settings)})


def nanocoder_files(run):
    provider = {"name": "lab", "baseUrl": run.url + "/v1", "apiKey": run.key, "models": [NAME]}
    return {".config/nanocoder/agents.config.json": json.dumps({"nanocoder": {"providers": [provider]}})}


@agent("acpx", can="deny", jq=STOP_REASON)
def acpx(run):
    """acpx drives another agent; here Nanocoder, which the table has for ACP."""
    other = run.beside("nanocoder") / "node_modules/.bin/nanocoder"
    inner = shlex.join([str(other), "--acp", "--provider", "lab", "--model", NAME])
    approve = "--deny-all" if run.needs("deny") else "--approve-all"
    args = [npm_bin(run, "acpx"), "--format", "json", approve, "--agent", inner, "exec", PROMPT]
    return Launch(args, {}, nanocoder_files(run))


@agent("hermes", can="resume", jq='select(.type == "result") | .exit_code == 0')
def hermes(run):
    config = {
        "model": {"provider": "custom", "default": NAME, "base_url": run.url + "/v1", "api_key": run.key},
    }
    args = [venv_bin(run, "hermes"), "chat", "-q", PROMPT, "--format", "stream-json", "--yolo"]
    if run.needs("resume"):
        args += ["--resume", "latest"]
    env = {"HERMES_HOME": f"{run.home}/.hermes", "HERMES_ACCEPT_HOOKS": "1", "OPENAI_API_KEY": run.key}
    return Launch(args, env, {".hermes/config.yaml": json.dumps(config)})


@agent("mastracode", can="deny max-turns question resume", jq='select(.type == "result") | .status == "completed"')
def mastracode(run):
    provider = {"name": "lab", "url": run.url + "/v1", "apiKey": run.key, "models": [NAME]}
    modes = dict.fromkeys(("build", "plan", "fast"), f"lab/{NAME}")
    settings = {"customProviders": [provider], "models": {"modeDefaults": modes}}
    args = [npm_bin(run, "mastracode"), "--prompt", PROMPT, "--output", "jsonl"]
    if run.needs("deny"):
        args += ["--permission-mode", "deny"]
        settings["preferences"] = {"yolo": False}
    if run.needs("max-turns"):
        args += ["--max-turns", "2"]
    if run.needs("resume"):
        args += ["--continue"]
    files = {".local/share/mastracode/settings.json": json.dumps(settings)}
    return Launch(args, {"MASTRA_TELEMETRY_DISABLED": "1"}, files)


@agent("kolega", can="deny", jq='select(.type == "run.completed") | .payload.exit_code == 0')
def kolega(run):
    args = [venv_bin(run, "kolega-code"), "ask", "--json", "--endpoint-url", run.url + "/v1"]
    args += ["--endpoint-api-key", run.key, "--model", NAME, "--endpoint-context", "100000", PROMPT]
    if run.needs("deny"):
        args += ["--permission-mode", "ask"]
    # The table of tokens comes from a package: the program would download it.
    packages = run.place / "venv/lib/python3.13/site-packages"
    return Launch(args, {"TIKTOKEN_CACHE_DIR": str(packages / "litellm/litellm_core_utils/tokenizers")})


# Agents that speak only ACP


@agent("nanocoder", can="deny acp", jq=STOP_REASON, profile="acp")
def nanocoder(run):
    args = [npm_bin(run, "nanocoder"), "--acp", "--provider", "lab", "--model", NAME]
    return Launch(args, {}, nanocoder_files(run))


@agent("claude-acp", can="deny mcp acp", jq=STOP_REASON, profile="acp")
def claude_acp(run):
    launch = claude(run)
    launch.args = [npm_bin(run, "claude-agent-acp")]
    launch.env["ANTHROPIC_MODEL"] = "claude-sonnet-4-5"
    return launch


@agent("codex-acp", can="mcp acp", jq=STOP_REASON, profile="acp")
def codex_acp(run):
    launch = codex(run)
    launch.args = [npm_bin(run, "codex-acp")]
    launch.env |= {"OPENAI_API_KEY": run.key, "CODEX_API_KEY": run.key}
    return launch
