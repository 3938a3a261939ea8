//! Configuration files that are wrong.

/// What is wrong with a configuration: the file, and the message.
pub(crate) const FAULTS: &[(&str, &str)] = &[
    ("trict = true", "1:1: unknown key `trict`; a similar one is `strict`"),
    ("[limits]\ntrns = 3", "2:1: unknown key `trns`; a similar one is `turns`"),
    (
        "[limits]\nx = 3",
        "2:1: unknown key `x`; known are cost, tokens, turns, calls, failed-calls, \
         estimates",
    ),
    ("presets = [\"tested\"]", "1:1: unknown key `presets`; it belongs below `[expect]`"),
    ("strict = true\nstrict = true", "2:1: duplicate key"),
    ("strict = ", "1:10: string values must be quoted"),
    ("rules.blank-line = off", "1:20: string values must be quoted"),
    (
        "expect.answer.matches = \"\\d\"",
        "1:27: in double quotes a backslash begins an escape; put the text in single quotes: \
         'a\\d'",
    ),
    ("strict = 1", "1:10: invalid type: integer `1`, expected a boolean"),
    ("limits = 5", "1:10: invalid type: integer `5`, expected a table"),
    (
        "expect.answer = true",
        r#"1:17: invalid type: boolean `true`, expected a table, such as `{ matches = "done" }`"#,
    ),
    ("expect.calls = {}", "1:16: invalid type: table, expected an array"),
    (
        "limits.turns = \"x\"",
        "1:16: invalid type: string \"x\", expected a whole number, 1 or more",
    ),
    ("limits.turns = 0", "1:16: invalid value: integer `0`, expected a whole number, 1 or more"),
    ("limits.calls = -1", "1:16: invalid value: integer `-1`, expected a whole number, 0 or more"),
    (
        "limits.cost = nan",
        "1:15: invalid value: floating point `NaN`, expected an amount in US dollars above 0",
    ),
    (
        "limits.cost = -1",
        "1:15: invalid value: integer `-1`, expected an amount in US dollars above 0",
    ),
    (
        "rules.blank-lin = \"off\"",
        "1:7: no such rule; `ndjson-check rules` lists them all; a similar one is `blank-line`",
    ),
    ("rules.blank-line = \"of\"", "1:20: unknown value `of`; a similar one is `off`"),
    (
        "profile = \"claud\"",
        "1:11: no such profile, and no such file: `claud`; a similar one is `claude`",
    ),
    (
        "expect.writes.never = [\"a\", \"[b\"]",
        "1:23: `[b` is not a glob: unclosed character class; missing ']'",
    ),
    (
        "expect.calls = [{ kind = \"wirte\", at-most = 0 }]",
        "1:26: unknown value `wirte`; a similar one is `write`",
    ),
    (
        "expect.calls = [{ kind = \"write\", matches = \"(\", at-most = 0 }]",
        "1:45: not a regular expression: unclosed group",
    ),
    (
        "[expect]\ncalls = [\n  { kind = \"write\", at-least = 2, at-most = 1 },\n]",
        "3:3: fewer calls are allowed than are needed",
    ),
    (
        "[[expect.calls]]\nkind = \"write\"",
        "1:1: an entry needs `at-least`, `at-most`, `last` or `requires`",
    ),
    (
        "expect.calls = [{ kind = \"write\", after = \"read\", requires = { kind = \"read\", \
         same = \"path\" } }]",
        "1:17: `after`, `before` and `output` need `at-least`, `at-most` or `last`",
    ),
    ("expect.presets = [\"testd\"]", "1:19: unknown value `testd`; a similar one is `tested`"),
    (
        "prices.x = { input = -1, output = 1 }",
        "1:22: invalid value: floating point `-1.0`, expected an amount in US dollars, 0 or more",
    ),
    ("expect.servers = [\"\"]", "1:18: a name is empty"),
    (
        "expect.calls = [{ at-most = 1 }]",
        "1:17: no calls are named: set `kind`, `tool`, `matches` or `runs`",
    ),
    ("expect.calls = [{ tool = \"\", at-most = 1 }]", "1:26: a name is empty"),
    ("expect.calls = [{ runs = \"\", at-most = 1 }]", "1:17: `runs` is empty"),
    (
        "expect.calls = [{ runs = \"git push \", at-most = 0 }]",
        "1:17: `runs` cannot match: single spaces separate words, and none is at an end",
    ),
    (
        "expect.calls = [{ runs = 'curl .*\\|\\s*(ba)?sh', at-most = 0 }]",
        "1:17: `runs` cannot match: it sees each command of a line by itself, without quotes and \
         variables; for the whole line, use `matches`",
    ),
    (
        "expect.calls = [{ runs = \"CI=1 npm publish\", at-most = 0 }]",
        "1:17: `runs` cannot match: it sees each command of a line by itself, without quotes and \
         variables; for the whole line, use `matches`",
    ),
    (
        "expect.calls = [{ runs = \"git push\", except = \"\", at-most = 0 }]",
        "1:17: `except` is empty: every command matches it",
    ),
    (
        "expect.calls = [{ kind = \"read\", runs = \"a\", at-most = 1 }]",
        "1:17: `runs` is for calls of the kind `command`",
    ),
    (
        "expect.calls = [{ kind = \"write\", at-most = 1, after = \"write\" }]",
        "1:17: `after` is the kind of the calls: none comes after the last of its kind",
    ),
    (
        "expect.calls = [{ runs = \"make\", at-most = 1, before = \"command\" }]",
        "1:17: `before` is the kind of the calls: none comes before the first of its kind",
    ),
    (
        "expect.calls = [{ kind = \"write\", at-most = 1, output = {} }]",
        "1:17: `output` needs `matches`, `never`, `nothing`, `passed` or `failed`",
    ),
    (
        "expect.calls = [{ kind = \"command\", at-most = 1, output = { passed = \"a\" } }]",
        "1:17: `passed` and `failed` of an output need `runs`",
    ),
    ("expect.answer = {}", "1:17: `answer` needs `matches` or `schema`"),
    ("expect.answer.matches = \"\"", "1:25: `matches` is empty: every answer matches it"),
    ("expect.writes = {}", "1:17: `writes` needs `within` or `never`"),
    ("expect.writes.never = []", "1:23: `never` names no file"),
    ("expect.servers = []", "1:18: `servers` names no server"),
    ("expect.tools = []", "1:16: `tools` names no tool"),
    ("expect.session = \"\"", "1:18: `session` is empty"),
    ("limits.estimates = true\nlimits.cost = 2", "1:20: `estimates` needs `[prices]`"),
    (
        "limits.estimates = true\nprices.\"*\" = { input = 1, output = 1 }",
        "1:20: `estimates` needs `limits.cost` or `--max-cost`",
    ),
    (
        "expect.answer.schema = \"none.json\"",
        "1:24: failed to use the schema none.json: No such file or directory",
    ),
    (
        "expect.answer.schema = \"wrong.json\"",
        "1:24: failed to use the schema wrong.json: `5` is not valid at /type",
    ),
];
