// A recording that tries to break the page: markup, escape codes, a line of 10 MB, deep nesting,
// bytes that are no UTF-8, and half a line at the end.
const MARKUP = `</script><script>window.hacked=1</script><img src=x onerror="window.hacked=1">`;
const NASTY = `${MARKUP}\u001b]0;x\u0007\u001b[2J\u202egnp.exe\u200b`;

export function hostile() {
  const session = { session_id: `s-${NASTY}`, timestamp_ms: 1 };
  const call = (subtype, number, result) => ({
    type: "tool_call",
    subtype,
    call_id: `call-${number}-${NASTY}`,
    tool_call: { shellToolCall: { args: { command: NASTY }, ...(result && { result }) } },
    ...session,
  });
  const events = [
    { type: "system", subtype: "init", apiKeySource: "login", cwd: NASTY, model: NASTY, permissionMode: NASTY, session_id: session.session_id },
    call("started", 1),
    call("completed", 1, { success: { stdout: NASTY, exitCode: 0 } }),
    call("started", 2),
    { type: "assistant", message: { role: "assistant", content: [{ type: "text", text: NASTY }] }, ...session },
    { type: NASTY, subtype: NASTY, ...session },
  ];
  const line = (text) => Buffer.from(`${text}\n`);
  return Buffer.concat([
    ...events.map((event) => line(JSON.stringify(event))),
    line(NASTY),
    line(`{"type":"assistant","text":"${"<b>".repeat(3_333_333)}"}`),
    line(`{"type":${"[".repeat(100_000)}`),
    Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d, 0x0a]),
    Buffer.from(`{"type":"result","subtype":"succ`),
  ]);
}
