"""Chat templates: those of well-known models render right, hostile ones are stopped."""

import re
import sys
import threading
import time
from datetime import date, datetime

import pytest

from core.errors import PromptError
from core.text import chat, template
from tests import chat_templates as models


def render(source, messages=(("user", "Hi"),), names=models.NAMES):
    return "".join(text for text, _ in chat.render(source, messages, None, names))


@pytest.mark.parametrize("name", models.RENDERED)
def test_templates_of_well_known_models(name):
    source, messages, text = models.RENDERED[name]
    assert render(source, messages) == (date.today().strftime(text) if "%d" in text else text)


@pytest.mark.parametrize(
    ("source", "messages", "reason"),
    [
        (models.GEMMA, models.TALK, "System role not supported"),
        (models.GEMMA, models.HI * 2, "roles must alternate user/assistant/user"),
        (models.MISTRAL, models.HI * 2, "Conversation roles must alternate"),
        (models.MISTRAL, [("tool", "x")], "must alternate"),
        (models.QWEN2_5, (), "no element 0"),
    ],
)
def test_a_template_that_refuses_the_messages_says_why(source, messages, reason):
    with pytest.raises(PromptError) as caught:
        render(source, messages)
    assert caught.value.code == "bad_template" and reason in str(caught.value)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{ tools is none }} {{ documents is none }} {{ x is defined }}", "True True False"),
        ("{{ range(3) | list }}{{ bos_token }}{{ eos_token }}", "[0, 1, 2]<s></s>"),
        ("{{ [1, {'b': 'é<'}] | tojson }}", '[1, {"b": "é<"}]'),
        ("{{ {'a': 1} | tojson(indent=1) }}", '{\n "a": 1\n}'),
        ("{% set x = 1 %}{% generation %}{% set x = 2 %}{{ x }}{% endgeneration %}{{ x }}", "21"),
        ("{% for n in range(9) %}{% if n == 2 %}{% break %}{% endif %}{{ n }}{% endfor %}", "01"),
        ("{{ messages[0].content.upper() }}{{ 'a-b'.split('-')[1] }}", "HIb"),
        ("", ""),
    ],
)
def test_what_templates_may_use(source, text):
    assert render(source) == text


def test_a_name_that_the_vocabulary_has_not():
    assert render("[{{ bos_token }}]{{ pad_token is defined }}", names={}) == "[]False"


def test_the_clock_tells_the_day_and_stands_at_midnight():
    now = datetime(2024, 2, 29)
    source = "{{ strftime_now('%d %b %Y') }}, {{ strftime_now('%H:%M') }}"
    assert template.render(source, {}, now) == "29 Feb 2024, 00:00"
    assert render(source) == f"{date.today():%d %b %Y}, 00:00"


DOUBLED = "{% set ns = namespace(x=['aaaaaaaa']) %}{% for n in range(60) %}"
HOSTILE = {
    "loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "loops over messages": "{% for a in messages * 99999999 %}{% set x = a %}{% endfor %}",
    "a list of everything": "{{ (range(99999) | list * 99999) | length }}",
    "a long text": "{{ 'a' * 10 ** 10 }}",
    "text padded": "{{ 'a' | center(10 ** 10) }}",
    "text filled": "{{ 'a'.ljust(10 ** 10) }}",
    "text formatted": "{{ '%10000000000d' % 1 }}",
    "text formatted by a method": "{{ '{:10000000000}'.format(1) }}",
    "text indented": "{{ 'a\\nb' | indent(10 ** 10) }}",
    "json indented": "{{ [1] | tojson(indent=10 ** 10) }}",
    "a large number": "{{ (9 ** 99999) ** 99999 % 7 }}",
    "a number that grows": "{{ (10 ** 4000) ** 4000 % 7 }}",
    "text doubled": DOUBLED + "{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x | length }}",
    "lists in lists": DOUBLED + "{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
    "lists as json": DOUBLED + "{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x | tojson }}",
    "lists compared": "{% set ns = namespace(x=['a'], y=['a']) %}{% for n in range(60) %}"
    "{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}{{ ns.x == ns.y }}",
    "replacing": "{% set ns = namespace(x='aa') %}{% for n in range(60) %}"
    "{% set ns.x = ns.x.replace('a', 'aaaa') %}{% endfor %}{{ ns.x | length }}",
    "text without end": "{% for n in range(99999) %}{{ 'a' * 1000 }}{% endfor %}",
    "a macro that calls itself": "{% macro f() %}{{ f() }}{{ f() }}{% endmacro %}{{ f() }}",
    "deep brackets": "{{ " + "(" * 20_000 + "1" + ")" * 20_000 + " }}",
    "lipsum": "{{ lipsum(n=10 ** 8) }}",
    "a joined product": "{{ (range(9999) | join('a' * 99999)) | length }}",
}


ENDLESS = {"loops", "lists in lists", "lists as json", "lists compared", "lipsum"}
ENDLESS |= {"a large number", "a number that grows"}


@pytest.fixture(scope="module")
def hurried(tmp_path_factory):
    """The program that renders, with a quarter of its time; its own is measured further below."""
    program, whole = chat.PROGRAM.read_text("utf-8"), "\nSECONDS = 2  #"
    assert whole in program
    path = tmp_path_factory.mktemp("hurried") / "template.py"
    path.write_text(program.replace(whole, "\nSECONDS = 0.5  #"), "utf-8")
    return path


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_templates_are_stopped(name, hurried, monkeypatch):
    if name in ENDLESS:  # these take all the time that they are given
        monkeypatch.setattr(chat, "PROGRAM", hurried)
    start = time.process_time()
    with pytest.raises(PromptError) as caught:
        render(HOSTILE[name])
    assert caught.value.code == "bad_template" and len(str(caught.value)) < 500
    assert time.process_time() - start < 1  # what it took was not ours


@pytest.mark.parametrize(
    "source",
    [
        "{{ messages[9].content }}",
        "{% if %}",
        "{{ raise_exception('no') }}",
        "{{ raise_exception(messages) }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ ''['__cl' ~ 'ass__'].__mro__ }}",
        "{{ '{0.__class__.__mro__}'.format('') + 1 }}",
        "{{ strftime_now.__self__.year }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{{ messages.append(1) }}",
        "{{ messages[0].update(role='x') }}",
        "{{ 1 / 0 }}",
        "{{ 'a' + 1 }}",
        "{{ nothing.here }}",
        "{% include '/etc/passwd' %}",
        "{% import 'os' as os %}",
        "{{ range(10 ** 9) | length }}",
        "{{ 'a' | nofilter }}",
        "x" * 64_001,
    ],
)
def test_templates_that_misbehave(source):
    with pytest.raises(PromptError) as caught:
        render(source)
    assert caught.value.code == "bad_template"


def test_an_endless_template_is_stopped_from_any_thread():
    found = []

    def stopped():
        try:
            render("{# thread #}" + HOSTILE["loops"])
        except PromptError as error:
            found.append(str(error))

    thread = threading.Thread(target=stopped)
    thread.start()
    thread.join()
    assert len(found) == 1
    if sys.platform == "linux":
        assert "longer than 2 seconds" in found[0]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux refuses memory by address space")
def test_memory_is_refused():
    with pytest.raises(PromptError) as caught:
        render("{{ 'b' * 10 ** 9 }}")
    assert "more than 200 MB" in str(caught.value)


def test_the_same_chat_is_rendered_once(monkeypatch):
    source, calls = "{# once #}{{ messages[0].content }}", []
    start = chat._start
    monkeypatch.setattr(chat, "_start", lambda job: calls.append(job) or start(job))
    assert [render(source), render(source)] == ["Hi", "Hi"] and len(calls) == 1
    assert render(source, [("user", "Ho")]) == "Ho" and len(calls) == 2


def test_no_program_can_be_started(monkeypatch):
    monkeypatch.setattr(chat.sys, "executable", "/nowhere/python")
    with pytest.raises(PromptError) as caught:
        render("{# nowhere #}Hi")
    assert re.search("could be started", str(caught.value))
