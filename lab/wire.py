"""The four protocols that agents speak with a model: what a request says, and how a reply is written.

A writer yields the events of a streamed reply. Between them it yields the reply's fault, a plain
word, where the fault happens.
"""

import json

STAMP = 1700000000


def protocol(path):
    """The protocol of a request's path, or None."""
    if path.endswith("/chat/completions"):
        return "chat"
    if path.endswith("/responses"):
        return "responses"
    if path.endswith("/messages"):
        return "anthropic"
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return "gemini"
    return None


def tools(body):
    """The tools that the request offers: name and argument schema. `a/b` is `b` of namespace `a`."""
    found = {}
    for tool in body.get("tools") or []:
        if "functionDeclarations" in tool:
            for one in tool["functionDeclarations"]:
                found[one["name"]] = one.get("parametersJsonSchema") or one.get("parameters") or {}
        elif isinstance(tool.get("function"), dict):
            found[tool["function"]["name"]] = tool["function"].get("parameters") or {}
        elif tool.get("type") == "namespace":
            for one in tool.get("tools") or []:
                found[f"{tool['name']}/{one.get('name')}"] = one.get("parameters") or {}
        elif "name" in tool:
            found[tool["name"]] = tool.get("input_schema") or tool.get("parameters") or {}
        elif tool.get("type") == "local_shell":
            found["local_shell"] = {}
    return found


def results(body):
    """How many tool results the conversation has."""
    return sum(1 for kind, _ in parts(body) if kind == "result")


def said_by_user(body):
    """All text that the conversation has from the user."""
    return "\n".join(text for kind, text in parts(body) if kind == "user")


def parts(body):
    """The conversation, whatever the protocol: `user` texts, `result`s of tools, `other` parts."""
    conversation = body.get("messages") or body.get("contents") or body.get("input") or []
    if isinstance(conversation, str):
        conversation = [{"role": "user", "content": conversation}]
    for message in conversation:
        if message.get("role") == "tool" or str(message.get("type", "")).endswith("_call_output"):
            yield "result", ""
            continue
        content = message.get("content") or message.get("parts") or []
        if isinstance(content, str):
            content = [{"text": content}]
        for part in content:
            if not isinstance(part, dict):
                continue
            if part.get("type") == "tool_result" or "functionResponse" in part:
                yield "result", ""
            elif message.get("role") == "user":
                yield "user", str(part.get("text") or "")
            else:
                yield "other", ""


def arguments(call):
    """A call's arguments as the text that a model writes. A scenario may ask for broken ones."""
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments)


def chunks(text):
    size = max(12, len(text) // 200)
    return [text[at : at + size] for at in range(0, len(text), size)]


def pieces(reply, event):
    """The reply's text, one event for each piece, with the fault in the middle."""
    middle = (len(reply.text) + 1) // 2
    for index, piece in enumerate(reply.text):
        if index == middle and reply.fault in ("cut", "reset", "quit", "hang", "error", "garbage"):
            yield reply.fault
        yield event(piece)


# Chat completions (OpenAI)

CHAT_STOP = {"length": "length", "filter": "content_filter", "error": "error"}
CHAT_USAGE = {
    "prompt_tokens": 12,
    "completion_tokens": 9,
    "total_tokens": 21,
    "prompt_tokens_details": {"cached_tokens": 0},
}


def chat(reply, number, model):
    def chunk(delta, finish=None, **more):
        choices = [] if more else [{"index": 0, "delta": delta, "finish_reason": finish}]
        head = {
            "id": f"chatcmpl-{number}",
            "object": "chat.completion.chunk",
            "created": STAMP,
            "model": model,
        }
        return None, {**head, "choices": choices, **more}

    yield chunk({"role": "assistant", "content": ""})
    for thought in reply.thoughts:
        yield chunk({"reasoning_content": thought})
    said = "refusal" if reply.stop == "refusal" else "content"
    yield from pieces(reply, lambda piece: chunk({said: piece}))
    for index, call in enumerate(reply.calls):
        start = {"index": index, "id": call.id or f"call_{number}_{index}", "type": "function"}
        yield chunk({"tool_calls": [{**start, "function": {"name": call.name, "arguments": ""}}]})
        for count, piece in enumerate(chunks(arguments(call))):
            if count and reply.fault.endswith("-call"):
                yield reply.fault.removesuffix("-call")
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    if reply.fault.endswith("-late"):
        yield reply.fault.removesuffix("-late")
    yield chunk({}, CHAT_STOP.get(reply.stop) or ("tool_calls" if reply.calls else "stop"))
    total = reply.tokens + CHAT_USAGE["completion_tokens"]
    yield chunk({}, usage={**CHAT_USAGE, "prompt_tokens": reply.tokens, "total_tokens": total})
    yield None, "[DONE]"


def chat_whole(reply, number, model):
    message = {"role": "assistant", "content": "".join(reply.text)}
    if reply.thoughts:
        message["reasoning_content"] = "".join(reply.thoughts)
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": call.id or f"call_{number}_{index}",
                "type": "function",
                "function": {"name": call.name, "arguments": arguments(call)},
            }
            for index, call in enumerate(reply.calls)
        ]
    finish = CHAT_STOP.get(reply.stop) or ("tool_calls" if reply.calls else "stop")
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": STAMP, "model": model}
    return {
        **head,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": CHAT_USAGE,
    }


# Responses (OpenAI)

RESPONSES_STOP = {"length": "max_output_tokens", "filter": "content_filter", "error": "error"}
RESPONSES_USAGE = {
    "input_tokens": 12,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 9,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 21,
}


def responses(reply, number, model):
    base = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": STAMP,
        "model": model,
        "output": [],
        "status": "in_progress",
    }
    output = []

    def event(kind, **fields):
        event.number += 1
        return kind, {"type": kind, "sequence_number": event.number, **fields}

    def done(item):
        output.append(item)
        return event("response.output_item.done", output_index=len(output) - 1, item=item)

    event.number = 0
    yield event("response.created", response=base)
    if reply.thoughts:
        item = {"type": "reasoning", "id": f"rs_{number}", "summary": []}
        yield event("response.output_item.added", output_index=0, item=item)
        where = {"item_id": item["id"], "output_index": 0, "summary_index": 0}
        for thought in reply.thoughts:
            yield event("response.reasoning_summary_text.delta", **where, delta=thought)
        summary = [{"type": "summary_text", "text": "".join(reply.thoughts)}]
        yield done({**item, "summary": summary, "encrypted_content": None})
    if reply.text:
        at, text = len(output), "".join(reply.text)
        item = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
        where = {"item_id": item["id"], "output_index": at, "content_index": 0}
        kind, key = ("refusal", "refusal") if reply.stop == "refusal" else ("output_text", "text")
        part = {"type": kind, key: text}
        if kind == "output_text":
            part["annotations"] = []
        yield event(
            "response.output_item.added",
            output_index=at,
            item={**item, "status": "in_progress", "content": []},
        )
        yield event("response.content_part.added", **where, part={**part, key: ""})
        yield from pieces(reply, lambda piece: event(f"response.{kind}.delta", **where, delta=piece))
        yield event(f"response.{kind}.done", **where, **{key: text})
        yield event("response.content_part.done", **where, part=part)
        yield done({**item, "status": "completed", "content": [part]})
    for index, call in enumerate(reply.calls):
        item = {
            "type": "function_call",
            "id": f"fc_{number}_{index}",
            "call_id": call.id or f"call_{number}_{index}",
            **responses_name(call),
        }
        where = {"item_id": item["id"], "output_index": len(output)}
        text = arguments(call)
        yield event(
            "response.output_item.added",
            output_index=len(output),
            item={**item, "arguments": "", "status": "in_progress"},
        )
        for count, piece in enumerate(chunks(text)):
            if count and reply.fault.endswith("-call"):
                yield reply.fault.removesuffix("-call")
            yield event("response.function_call_arguments.delta", **where, delta=piece)
        yield event("response.function_call_arguments.done", **where, arguments=text)
        yield done({**item, "arguments": text, "status": "completed"})
    if reply.fault.endswith("-late"):
        yield reply.fault.removesuffix("-late")
    total = reply.tokens + RESPONSES_USAGE["output_tokens"]
    usage = {**RESPONSES_USAGE, "input_tokens": reply.tokens, "total_tokens": total}
    end = {**base, "output": output, "usage": usage}
    if reply.stop in RESPONSES_STOP:
        why = {"reason": RESPONSES_STOP[reply.stop]}
        yield event(
            "response.incomplete", response={**end, "status": "incomplete", "incomplete_details": why}
        )
    else:
        yield event("response.completed", response={**end, "status": "completed"})


def responses_name(call):
    namespace, _, name = call.name.rpartition("/")
    return {"namespace": namespace, "name": name} if namespace else {"name": name}


def responses_whole(reply, number, model):
    *_, (_, last) = [event for event in responses(reply, number, model) if not isinstance(event, str)]
    return last["response"]


# Messages (Anthropic)

ANTHROPIC_STOP = {
    "length": "max_tokens",
    "filter": "refusal",
    "refusal": "refusal",
    "error": "model_context_window_exceeded",
}
ANTHROPIC_USAGE = {
    "input_tokens": 12,
    "output_tokens": 9,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}


def anthropic(reply, number, model):
    blocks = 0

    def event(kind, **fields):
        return kind, {"type": kind, **fields}

    def delta(kind, **fields):
        return event("content_block_delta", index=blocks, delta={"type": kind, **fields})

    yield event(
        "message_start",
        message={
            **anthropic_head(number, model),
            "content": [],
            "stop_reason": None,
            "usage": {**ANTHROPIC_USAGE, "input_tokens": reply.tokens, "output_tokens": 1},
        },
    )
    yield event("ping")
    if reply.thoughts:
        yield event(
            "content_block_start",
            index=blocks,
            content_block={"type": "thinking", "thinking": "", "signature": ""},
        )
        for thought in reply.thoughts:
            yield delta("thinking_delta", thinking=thought)
        yield delta("signature_delta", signature="c2lnbmVk")
        yield event("content_block_stop", index=blocks)
        blocks += 1
    if reply.text:
        yield event("content_block_start", index=blocks, content_block={"type": "text", "text": ""})
        yield from pieces(reply, lambda piece: delta("text_delta", text=piece))
        yield event("content_block_stop", index=blocks)
        blocks += 1
    for index, call in enumerate(reply.calls):
        block = {"type": "tool_use", "id": call.id or f"toolu_{number}_{index}", "name": call.name, "input": {}}
        yield event("content_block_start", index=blocks, content_block=block)
        for count, piece in enumerate(chunks(arguments(call))):
            if count and reply.fault.endswith("-call"):
                yield reply.fault.removesuffix("-call")
            yield delta("input_json_delta", partial_json=piece)
        yield event("content_block_stop", index=blocks)
        blocks += 1
    if reply.fault.endswith("-late"):
        yield reply.fault.removesuffix("-late")
    stop = {"stop_reason": anthropic_stop(reply), "stop_sequence": None}
    yield event("message_delta", delta=stop, usage={"output_tokens": 9})
    yield event("message_stop")


def anthropic_whole(reply, number, model):
    content = [{"type": "text", "text": "".join(reply.text)}] if reply.text else []
    for index, call in enumerate(reply.calls):
        given = call.arguments if isinstance(call.arguments, dict) else {}
        content.append(
            {"type": "tool_use", "id": call.id or f"toolu_{number}_{index}", "name": call.name, "input": given}
        )
    return {
        **anthropic_head(number, model),
        "content": content,
        "stop_reason": anthropic_stop(reply),
        "usage": ANTHROPIC_USAGE,
    }


def anthropic_head(number, model):
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "stop_sequence": None,
    }


def anthropic_stop(reply):
    return ANTHROPIC_STOP.get(reply.stop) or ("tool_use" if reply.calls else "end_turn")


# Gemini

GEMINI_STOP = {
    "length": "MAX_TOKENS",
    "filter": "SAFETY",
    "refusal": "PROHIBITED_CONTENT",
    "error": "MALFORMED_FUNCTION_CALL",
}
GEMINI_USAGE = {"promptTokenCount": 12, "candidatesTokenCount": 9, "totalTokenCount": 21}


def gemini(reply, number, model):
    def chunk(parts, finish=None):
        candidate = {"content": {"parts": parts, "role": "model"}, "index": 0}
        if finish:
            candidate["finishReason"] = finish
        return None, {
            "candidates": [candidate],
            "usageMetadata": {**GEMINI_USAGE, "promptTokenCount": reply.tokens},
            "modelVersion": model,
            "responseId": f"r{number}",
        }

    for thought in reply.thoughts:
        yield chunk([{"text": thought, "thought": True}])
    yield from pieces(reply, lambda piece: chunk([{"text": piece}]))
    if reply.fault.endswith("-call"):
        yield reply.fault.removesuffix("-call")
    if reply.calls:
        yield chunk(gemini_calls(reply))
    if reply.fault.endswith("-late"):
        yield reply.fault.removesuffix("-late")
    yield chunk([{"text": ""}], GEMINI_STOP.get(reply.stop, "STOP"))


def gemini_whole(reply, number, model):
    content = ([{"text": "".join(reply.text)}] if reply.text else []) + gemini_calls(reply)
    candidate = {
        "content": {"parts": content, "role": "model"},
        "finishReason": GEMINI_STOP.get(reply.stop, "STOP"),
        "index": 0,
    }
    return {
        "candidates": [candidate],
        "usageMetadata": GEMINI_USAGE,
        "modelVersion": model,
        "responseId": f"r{number}",
    }


def gemini_calls(reply):
    return [
        {
            "functionCall": {
                **({"id": call.id} if call.id else {}),
                "name": call.name,
                "args": call.arguments if isinstance(call.arguments, dict) else {},
            }
        }
        for call in reply.calls
    ]


STREAM = {"chat": chat, "responses": responses, "anthropic": anthropic, "gemini": gemini}
WHOLE = {
    "chat": chat_whole,
    "responses": responses_whole,
    "anthropic": anthropic_whole,
    "gemini": gemini_whole,
}


# Errors

KINDS = {
    400: ("invalid_request_error", "INVALID_ARGUMENT"),
    401: ("authentication_error", "UNAUTHENTICATED"),
    402: ("billing_error", "FAILED_PRECONDITION"),
    403: ("permission_error", "PERMISSION_DENIED"),
    404: ("not_found_error", "NOT_FOUND"),
    413: ("request_too_large", "INVALID_ARGUMENT"),
    429: ("rate_limit_error", "RESOURCE_EXHAUSTED"),
    500: ("api_error", "INTERNAL"),
    502: ("api_error", "UNAVAILABLE"),
    503: ("api_error", "UNAVAILABLE"),
    504: ("api_error", "DEADLINE_EXCEEDED"),
    529: ("overloaded_error", "UNAVAILABLE"),
}


def error(protocol, status, said=""):
    kind, upper = KINDS[status]
    message = said or f"scripted: {kind.replace('_', ' ')}"
    if protocol == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    if protocol == "gemini":
        return {"error": {"code": status, "message": message, "status": upper}}
    code = CODES.get(status) or ("context_length_exceeded" if "context" in said else None)
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


CODES = {
    401: "invalid_api_key",
    402: "insufficient_quota",
    404: "model_not_found",
    429: "rate_limit_exceeded",
}


STREAM_CODES = {402: "insufficient_quota", 429: "rate_limit_exceeded"}


def stream_error(protocol, status=500, said=""):
    """An error as the stream of an answer reports it, after it began well."""
    value = error(protocol, status, said)
    if protocol == "anthropic":
        return "error", value
    if protocol == "responses":
        long = "context_length_exceeded" if "context" in said else "server_error"
        told = {"code": STREAM_CODES.get(status, long), "message": value["error"]["message"]}
        response = {"id": "resp_0", "object": "response", "status": "failed", "error": told}
        return "response.failed", {"type": "response.failed", "response": response}
    return None, value
