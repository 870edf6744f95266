"""Expressions over outputs of the command: Python's syntax of numbers, operators by element, and functions, with paths into outputs.

    gpus{bt-mz B 1 static}.iterations[-1].step_s     a record of the output `gpus` of these words
    max(a.load) / min(a.load)
    m.rows[variant=slabs][nodes=4|8].step_s          elements whose key has that text or number, or one of these, in their order
    sum(a.iterations[*].migrations)                  of all elements
    a~"guided"[2]                                    the third number behind that word in a line
    a.hash == b.hash and a.verified
    gpus{bt-mz B|C 1|4 static}.iterations[-1].step_s words with | between them: of B 1, B 4, C 1, C 4

Values are lists, a number is a list of one and goes with all of another list; true is 1, false 0. Functions: sum min max count abs,
list(a, b, ..), at(v, i), and cuts(v), how often neighbours in v differ.
"""
import ast
import itertools
import math
import re

FAILED = 3
LONGEST = 20000  # letters of an expression
NUMBER = re.compile(r"(?:-|(?<![A-Za-z0-9]))\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")


class Wrong(Exception):
    """A message and the exit status that goes with it."""

    def __init__(self, message, code=FAILED):
        super().__init__(message)
        self.code = code


class Mistake(Exception):
    """In an expression."""


class Output:
    def __init__(self, text, content):
        self.text, self.content = text, content


def text_of(entry, key):
    value = entry.get(key) if isinstance(entry, dict) else None
    return value if isinstance(value, str) else None


def fill(command, words):
    """The command with its words in their places; None where one is lacking."""
    words = words.split()
    if command is None or any(int(n) > len(words) for n in re.findall(r"\$([1-9])", command)):
        return None
    return re.sub(r"\$([1-9])", lambda place: words[int(place[1]) - 1], command)


def expand(expression, parts, depth=4):
    """With the parts that have names of their own, as "last": "gpus{$1 $2}.iterations[-1]", in their places."""
    def part(place):
        text = fill(parts[place[1]], place[2]) if place[1] in parts else None
        return place[0] if text is None else f"({expand(text, parts, depth - 1)})"
    if depth < 0 or len(expression) > LONGEST:
        raise Mistake("names that stand for each other, or too much text")
    return re.sub(r"(\w+)\{([^}]*)\}", part, expression)


def parse(expression, parts):
    """As Python has it: words in braces, conditions and lines become texts."""
    if not isinstance(expression, str):
        raise Mistake("it is no text")
    text = re.sub(r'~\s*("[^"]*")\s*\[\s*(\d+)\s*\]', r".line(\1, \2)", expand(expression, parts))
    text = re.sub(r"\{([^}]*)\}", lambda words: f"({words[1]!r})", text).replace("[*]", "[:]")
    text = re.sub(r"\[(\w+=[^\]]*)\]", lambda condition: f"[{condition[1]!r}]", text)
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Mistake(getattr(error, "msg", None) or "it is no expression") from None


def alternatives(words):
    """All lists of words, of which one may be several with | between them."""
    every = [word.split("|") for word in words.split()]
    if math.prod(map(len, every)) > 1000:
        raise Mistake("too many words with | between them")
    return [" ".join(one) for one in itertools.product(*every)]


def outputs(expression, parts):
    """Names and words of all outputs in an expression; none where it has a mistake."""
    try:
        nodes = list(ast.walk(parse(expression, parts)))
    except Mistake:
        return
    called = {id(node.func): node.args for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        if isinstance(node, ast.Name):
            args = called.get(id(node))
            if args is None or (len(args) == 1 and isinstance(args[0], ast.Constant) and isinstance(args[0].value, str)):
                for words in alternatives(args[0].value if args else ""):
                    yield node.id, words


FUNCTIONS = {
    "list": list,
    "abs": lambda v: [abs(x) for x in v],
    "count": lambda v: [float(len(v))],
    "cuts": lambda v: [float(sum(a != b for a, b in zip(v, v[1:])))],
    "sum": lambda v: [sum(v)],
    "min": lambda v: [min(v)],
    "max": lambda v: [max(v)],
    "at": lambda v: [v[:-1][int(v[-1])]],
}
OPERATORS = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.Div: lambda a, b: a / b,
    ast.Lt: lambda a, b: a < b, ast.Gt: lambda a, b: a > b, ast.LtE: lambda a, b: a <= b, ast.GtE: lambda a, b: a >= b,
    ast.Eq: lambda a, b: a == b, ast.And: lambda a, b: bool(a) and bool(b),
}


def by_element(operator, a, b):
    if type(operator) not in OPERATORS:
        raise Mistake(f"there is no operator {type(operator).__name__}")
    if len(a) != len(b) and 1 not in (len(a), len(b)):
        raise Mistake(f"{len(a)} numbers and {len(b)} do not go together")
    n = max(len(a), len(b)) if a and b else 0
    return [OPERATORS[type(operator)](a[i if len(a) > 1 else 0], b[i if len(b) > 1 else 0]) for i in range(n)]


def matches(element, key, word):
    value = element.get(key) if isinstance(element, dict) else None
    if isinstance(value, bool):
        return value == (word == "true")
    return value == word if isinstance(value, str) else isinstance(value, float) and re.fullmatch(r"[-+.\deE]+", word) and value == float(word)


class Evaluation:
    def __init__(self, find):
        self.find = find  # the Output of a name and words

    def value(self, node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return [float(node.value)]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return by_element(ast.Sub(), [0.0], self.value(node.operand))
        if isinstance(node, ast.BinOp):
            return by_element(node.op, self.value(node.left), self.value(node.right))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return by_element(node.ops[0], self.value(node.left), self.value(node.comparators[0]))
        if isinstance(node, ast.BoolOp):
            value = self.value(node.values[0])
            for other in node.values[1:]:
                value = by_element(node.op, value, self.value(other))
            return value
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not self.is_words(node):
            return self.call(node.func.id, [self.value(argument) for argument in node.args])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "line":
            word, wanted = (argument.value for argument in node.args)
            return [self.line(output, word, wanted) for output in self.outputs(node.func.value)]
        return self.numbers(self.nodes(node))

    @staticmethod
    def is_words(node):
        return len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and isinstance(node.args[0].value, str)

    @staticmethod
    def call(name, arguments):
        values = [x for argument in arguments for x in argument]
        if not values:
            raise Mistake(f"{name}() of nothing")
        if name not in FUNCTIONS or (name == "at" and (len(arguments[-1]) != 1 or not 0 <= values[-1] < len(values) - 1)):
            raise Mistake(f"{name}() is no function, or not of these")
        return FUNCTIONS[name](values)

    def outputs(self, node):
        if isinstance(node, ast.Name):
            return [self.find(node.id, "")]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and self.is_words(node):
            return [self.find(node.func.id, words) for words in alternatives(node.args[0].value)]
        raise Mistake("expected a number or a name")

    def nodes(self, node):
        """The values in an output that a path leads to."""
        if isinstance(node, ast.Attribute):
            found = self.nodes(node.value)
            for o in found:
                if not isinstance(o, dict) or node.attr not in o:
                    raise Mistake(f'there is no key "{node.attr}"')
            return [o[node.attr] for o in found]
        if isinstance(node, ast.Subscript):
            return self.choose(self.nodes(node.value), node.slice)
        found = [output.content for output in self.outputs(node)]
        if None in found:
            raise Mistake("an output that is no JSON")
        return found

    @staticmethod
    def choose(found, which):
        if isinstance(which, ast.Constant) and isinstance(which.value, str):
            key, word = which.value.split("=", 1)
            # of what one condition has chosen, a further one
            chosen = [e for o in found for e in (o if isinstance(o, list) else [o]) if any(matches(e, key, one) for one in word.split("|"))]
            if not chosen:
                raise Mistake(f"nothing has {key} {word}")
            return chosen
        if not all(isinstance(o, list) for o in found):
            raise Mistake("[] of something that is no list")
        if isinstance(which, ast.Slice) and not (which.lower or which.upper or which.step):
            return [e for o in found for e in o]
        try:
            index = int(ast.literal_eval(which))
            return [o[index] for o in found]
        except (ValueError, TypeError):
            raise Mistake("[] that is no number, condition or *") from None
        except IndexError:
            raise Mistake(f"[{index}] of a list of {min(map(len, found))}") from None

    @staticmethod
    def numbers(found):
        values = [e for o in found for e in (o if isinstance(o, list) else [o])]
        if not all(isinstance(value, (float, str, bool)) for value in values):
            raise Mistake("a value that is no number")
        return values

    @staticmethod
    def line(output, word, wanted):
        """A number behind a word in the line that it begins."""
        for line in output.text.split("\n"):
            line = line.lstrip(" *+")
            found = [float(number[0]) for number in NUMBER.finditer(line, len(word))] if line.startswith(word) else []
            if wanted < len(found):
                return found[wanted]
        raise Mistake(f'the output has no line with "{word}" and {wanted + 1} numbers')


def evaluate(expression, parts, find):
    """The list of its values; `find` gives the Output of a name and words."""
    try:
        values = [float(x) if isinstance(x, (int, float)) else x for x in Evaluation(find).value(parse(expression, parts))]
    except ZeroDivisionError:
        raise Mistake("a value is not finite") from None
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise Mistake(str(error)) from None
    for i, x in enumerate(values):
        if not isinstance(x, float) or not math.isfinite(x):
            raise Mistake(f"value {i + 1} is not finite")
    return values
