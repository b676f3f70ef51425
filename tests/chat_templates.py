"""Chat templates in the manner of well-known models, each with what it makes of some messages.

Written for these tests with the constructs that the models' own templates use: loops over reversed
messages, namespaces, string methods, dates, refusals, `tojson`, markers for training.
"""

HI = [("user", "Hi")]
TALK = [("system", " Be brief. "), ("user", "Hi"), ("assistant", " Hello! "), ("user", "Bye")]

SMOLLM2 = """{% for message in messages %}
{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system
Helpful.<|im_end|>
' }}{% endif %}{{ '<|im_start|>' + message['role'] + '
' + message['content'] + '<|im_end|>' + '
' }}{% endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant
' }}{% endif %}"""

QWEN2_5 = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- for tool in tools %}{{- tool | tojson }}{%- endfor %}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>system\\nYou are Q.<|im_end|>\\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first)
        or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""

QWEN3 = """{%- if messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
{%- endif %}
{%- set ns = namespace(looking=true, last_query=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.looking and message.role == "user" and message.content is string
        and not(message.content.startswith('<answer>') and message.content.endswith('</answer>')) %}
        {%- set ns.looking = false %}
        {%- set ns.last_query = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if message.role == "user" or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set thought = '' %}
        {%- if message.reasoning is string %}
            {%- set thought = message.reasoning %}
        {%- elif '</think>' in content %}
            {%- set thought = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1] %}
            {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query and (loop.last or thought) %}
            {{- '<|im_start|>assistant\\n<think>\\n' + thought.strip('\\n') + '\\n</think>\\n\\n' }}
        {%- else %}
            {{- '<|im_start|>assistant\\n' }}
        {%- endif %}
        {{- content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}"""

LLAMA3_2 = """{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "26 Jul 2024" %}
    {%- endif %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if tools is not none %}
    {{- "Environment: ipython\\n" }}
{%- endif %}
{{- "Today: " + date_string + "\\n\\n" + system_message + "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'
            + message['content'] | trim + '<|eot_id|>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""

GEMMA = """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {{ raise_exception('System role not supported') }}
{%- endif -%}
{%- for message in messages -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception("Conversation roles must alternate user/assistant/user") }}
    {%- endif -%}
    {%- if (message['role'] == 'assistant') -%}
        {%- set role = "model" -%}
    {%- else -%}
        {%- set role = message['role'] -%}
    {%- endif -%}
    {{ '<start_of_turn>' + role + '\n' + (message['content'] | trim) + '<end_of_turn>\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model\n'}}
{%- endif -%}
"""

TINYLLAMA = """{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>\n' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>\n' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>\n'  + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}"""

PHI3 = """{% for message in messages %}{% if message['role'] in ['system', 'user'] %}
{{'<|' + message['role'] + '|>\n' + message['content'] + '<|end|>\n'}}
{%- elif message['role'] == 'assistant' %}{{'<|assistant|>\n' + message['content'] + '<|end|>\n'}}
{%- endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>\n' }}
{%- else %}{{ eos_token }}{% endif %}"""

MISTRAL = """{{ bos_token }}{% for message in messages %}
{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
{% endif %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}
{%- elif message['role'] == 'assistant' %}{{ message['content'] + eos_token + ' ' }}
{%- else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}
{% endfor %}"""

SMOLLM3 = """{%- set today = strftime_now("%d %B %Y") -%}
{%- for message in messages -%}
    {%- if message.role == 'system' -%}{%- continue -%}{%- endif -%}
    {%- if loop.index0 > 10 -%}{%- break -%}{%- endif -%}
    {{- "<|im_start|>" ~ message.role ~ "\\n" -}}
    {%- if message.role == 'assistant' -%}
        {%- generation -%}{{- message.content.lstrip() ~ "<|im_end|>\\n" -}}{%- endgeneration -%}
    {%- else -%}
        {{- message.content ~ "<|im_end|>\\n" -}}
    {%- endif -%}
{%- endfor -%}
{{- today ~ "|" ~ (messages | map(attribute="role") | join(",")) ~ {"é": [1, none]} | tojson -}}"""

NAMES = {"bos_token": "<s>", "eos_token": "</s>"}
USER = "<|im_start|>user\nHi<|im_end|>\n"
BYE = "<|im_start|>user\nBye<|im_end|>\n"
ASK = "<|im_start|>assistant\n"
EOT = "<|eot_id|><|start_header_id|>"
HEAD = "<|end_header_id|>\n\n"
THOUGHT = [("user", "Hi"), ("assistant", "<think>\nhm\n</think>\n\nYes"), ("user", "Bye")]

# name -> template, messages, text; DAY stands for the date as the template writes it
RENDERED = {
    "smollm2": (SMOLLM2, HI, "<|im_start|>system\nHelpful.<|im_end|>\n" + USER + ASK),
    "smollm2 system": (
        SMOLLM2,
        TALK,
        "<|im_start|>system\n Be brief. <|im_end|>\n"
        + USER
        + "<|im_start|>assistant\n Hello! <|im_end|>\n"
        + BYE
        + ASK,
    ),
    "qwen2.5": (QWEN2_5, HI, "<|im_start|>system\nYou are Q.<|im_end|>\n" + USER + ASK),
    "qwen2.5 system": (
        QWEN2_5,
        TALK[:2],
        "<|im_start|>system\n Be brief. <|im_end|>\n" + USER + ASK,
    ),
    "qwen3": (QWEN3, THOUGHT, USER + ASK + "Yes<|im_end|>\n" + BYE + ASK),
    "qwen3 thought": (
        QWEN3,
        THOUGHT[:2],
        USER + ASK + "<think>\nhm\n</think>\n\nYes<|im_end|>\n" + ASK,
    ),
    "llama 3.2": (
        LLAMA3_2,
        TALK[:3],
        f"<s><|start_header_id|>system{HEAD}Today: %d %b %Y\n\nBe brief.{EOT}user{HEAD}Hi"
        f"{EOT}assistant{HEAD}Hello!{EOT}assistant{HEAD}",
    ),
    "gemma": (
        GEMMA,
        TALK[1:],
        "<s><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\nHello!<end_of_turn>\n"
        "<start_of_turn>user\nBye<end_of_turn>\n<start_of_turn>model\n",
    ),
    "tinyllama": (
        TINYLLAMA,
        TALK,
        "<|system|>\n Be brief. </s>\n<|user|>\nHi</s>\n<|assistant|>\n Hello! </s>\n"
        "<|user|>\nBye</s>\n<|assistant|>\n",
    ),
    "phi3": (PHI3, HI, "<|user|>\nHi<|end|>\n<|assistant|>\n"),
    "mistral": (MISTRAL, TALK[1:], "<s>[INST] Hi [/INST] Hello! </s> [INST] Bye [/INST]"),
    "smollm3": (
        SMOLLM3,
        TALK[:3],
        USER + ASK + 'Hello! <|im_end|>\n%d %B %Y|system,user,assistant{"é": [1, null]}',
    ),
}
