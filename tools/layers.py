#!/usr/bin/env python3
"""Checks that includes and link names point down only (docs/architecture.md draws the layers), that nobody but a container
itself knows its name, who looks at a file's bytes in place, that only the command speaks of its options, and that nothing
depends on how a rule id is spelled, that locks of the process survive a fork, that nothing is used which another compiler
refuses, that the Python modules do not import each other in a circle, and that no `__repr__` shows a file's text as it is.

    tools/layers.py [ROOT]         prints each line that breaks a rule; exit 1 if there is one
    tools/layers.py --links LIB    the same of the symbols that the objects of a static library define and use
    tools/layers.py --selftest     shows that every rule can fail
"""

import ast
import graphlib
import pathlib
import re
import subprocess
import sys
import tempfile

# Bottom first. A file may include its own layer and those below; layers on one line do not know each other.
LAYERS = [
    ["base"],
    ["io"],
    ["wire"],
    ["model"],
    ["arch"],
    ["codecs"],
    ["resources"],
    ["formats"],
    ["chat"],
    ["convert", "inspect", "tiny_llama", "tokenize"],
    ["run"],
    ["device", "options", "view"],
    ["cli"],
]

# The layer of each public header: what a file must be allowed to know in order to include it.
PUBLIC = {
    "base": ["error", "export", "inline_vector", "progress", "stop", "value", "version", "work"],
    # A blob is bytes of a source, not yet read; it knows nothing of tensors.
    "io": ["blob", "digest", "sink", "source", "unfinished"],
    "model": ["change", "config", "dtype", "model", "shape", "slice", "vocabulary"],
    "codecs": ["codec", "elements", "rows"],
    "formats": ["append", "formats", "formats/mcf", "metadata_entry", "open", "pipeline", "write_options"],
    "convert": ["convert", "merge", "metadata", "plan", "quantize", "save"],
    "inspect": ["inspect"],
    "tokenize": ["tokenizer"],
    "chat": ["chat"],
    "run": ["calibrate", "damage", "quality", "run"],
    "device": ["device"],
    "cli": ["tare"],
}

# Containers do not know each other, nor do families of codecs: each is a folder in its layer. These build on another's
# syntax. The files of the layer itself are for all of them.
BUILDS_ON = {"formats/npz": {"formats/npy"},
             "formats/hf": {"formats/safetensors", "formats/torch"},
             # whose rows are made from their tables of schemes and of types
             "codecs": {"codecs/packs", "codecs/ggml"},
             # one container in three folders: INNER lists which of them may include which
             "formats/gguf": {"formats/gguf/llama_cpp"},
             "formats/gguf/llama_cpp": {"formats/gguf", "formats/gguf/llama_cpp/verbs"},
             "formats/gguf/llama_cpp/verbs": {"formats/gguf", "formats/gguf/llama_cpp"}}

# A folder inside a container, with the one file of the container that may include its headers, and the one header of the container
# that it may include.
INNER = {"formats/gguf/llama_cpp": ("formats/gguf/gguf.cpp", "formats/gguf/keys.hpp")}

# Containers store packed weights as arrays. Writing, opening and hashing give a model that form; no other code needs to. The files that
# may ask for the form, each with its reason:
STORED_FORM = {
    "codecs/packs": "defines it",
    "formats/rows.hpp": "the rows of the table give it to the containers",
    "formats/registry.cpp": "`open_as` leaves it on request",
    "convert/steps/packed_weights.cpp": "the result of `adapt` is what will be stored",
    "inspect/content_digest.cpp": "the digest is of what is stored",
    "cli/packed_remarks.cpp": "what was assumed is found out from the arrays",
    "cli/verbs/info.cpp": "likewise",
}
TAKES_STORED_FORM = re.compile(r"\bStoredForm\b|\bpacks::separate\(")

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)

# Not a member and not a local variable: at the beginning of a line, or static.
PROCESS_MUTEX = re.compile(r"^(?:(?:inline|constinit|static)\s+)*std::\w*mutex\b|\bstatic\b[^;(){}]*\bstd::\w*mutex\b", re.MULTILINE)

# Public headers that are not in include/tare: the folder is the layer.
PUBLIC_FOLDERS = {"tiny_llama"}

# Bytes in place (Source::view, Blob::view) may change between two looks: they are for tensor data, and for code that is
# right whatever they are. A parser takes a copy (io/metadata.hpp). These may look, and why nothing can happen.
VIEWS = {
    "io/metadata.cpp": "copies, then looks at the copy",
    "io/remote/remote_source.cpp": "passes a downloaded file's on",
    "io/sink.cpp": "hands them to the kernel to be written",
    "io/blob.cpp": "passes a source's on",
    "model/slice.cpp": "copies runs whose places follow from the shape alone",
    "model/transfer_running.cpp": "hashes them; the digest is one of some bytes that were there",
    "codecs/block_codec.cpp": "any bits are a code or a scale, and no index",
    "codecs/packs/arrays.cpp": "any bits are a code or a scale; what becomes an index is copied and checked",
    "codecs/planes.cpp": "any bits are a code or a scale, and no index",
    "codecs/values.cpp": "shows them to a caller who was told",
    "codecs/weights.cpp": "copies, then looks at the copy",
    "formats/npy/columns.hpp": "transposes items, whatever they are, to places that follow from the shape",
    "formats/llamafile.cpp": "passes those of another source on",
    "inspect/pull.cpp": "of memory only, for loops that count and compare",
    "resources/describe.cpp": "of memory only: texts that Tare itself has made",
    "run/session.cpp": "any bits are a weight, and no index",
    "tiny_llama/weights.cpp": "any bits are a weight, and no index",
}
VIEW = re.compile(r"(?:->|\.)view\(")
# Messages quote a little of a file's text (`quote` of base/printable.hpp): a name can have megabytes, and a file can bring about as many
# messages as it has items. `escape_name` spells all of it, for the command's tables; below the command only where it is data.
WHOLE_NAMES = {
    "base/printable.cpp": "defines it",
    "formats/torch/tree.cpp": "the name of a global becomes a value",
    "formats/hf/write.cpp": "the name that a file had, in the data of a change",
    "cli": "shows names in tables",
}
WHOLE_NAME = re.compile(r"\bescape_name\(")
COMMENT = re.compile(r"//[^\n]*")

# A container is known by its name to its folder alone; all other code asks its row. These may name some, and why.
KNOWS = {
    "formats/registry.cpp": ("*", "the table"),
    "formats/rows.hpp": ("*", "the table"),
    "arch": ("gguf", "a dialect of tensor names is called after it"),
    "codecs/group": ("zt", "the public name of its methods"),
    "device": ("mcf", "has kernels for layouts of that name"),
    "tiny_llama": ("tllm", "runs the models of that document"),
    "run/matrix_names.cpp": ("gguf", "files of importance values have its names of tensors"),
    "cli/verbs/families.cpp": ("gguf hf", "lists what converts between these two"),
    "cli/verbs/calibrate.cpp": ("gguf", "the usual name of its output ends so"),
    "cli/verbs/demo.cpp": ("alt hf mcf safetensors zt", "makes files of some of them"),
    "options/missing_file.cpp": ("hf", "the scheme of addresses on the Hub is called so"),
    "io/remote": ("hf", "likewise"),
    "cli/help.cpp": ("hf", "likewise"),
    "cli/verbs/info.cpp": ("hf", "likewise"),
    "cli/verbs/ls.cpp": ("hf", "likewise"),
    "formats/own_attributes.cpp": ("zt", "the form that both versions share"),
    "formats/zt2": ("gguf zt", "its profiles and attributes are called after others, and it is the second of its name"),
    "codecs/zt2": ("zt", "the profiles of its second version are called so"),
    "resources/config_dtype.cpp": ("torch", "config.json spells types as it does"),
    "formats/torch": ("safetensors", "what to write instead"),
    "formats/onnx": ("safetensors", "what to write instead"),
    "options/conversion.hpp": ("onnx", "an example of a folder that programs call so"),
    "formats/npy": ("npz", "reads the arrays in it, and reports what is wrong with them as its"),
    "formats/llamafile.cpp": ("gguf", "the model inside is one"),
    "formats/foreign_weights.cpp": ("gguf onnx torch", "what is wrong with a file that looks like one and is not"),
}
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
# What an identifier is made of: find_gguf_family, kMcfKernels.
WORD = re.compile(r"[A-Z]?[a-z]+[0-9]*|[A-Z]+(?![a-z])[0-9]*")
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
TITLE = re.compile(r'\.title = "([^",]+)')
# Examples of the command name files.
COMMAND = re.compile(r"tare \w+ ")

# A caller of the library has other options than the command: errors and changes carry a Remedy, which the command spells
# (cli/advice.cpp).
LITERAL = re.compile(r"""'(?:[^'\\\n]|\\.)'|"((?:[^"\\\n]|\\.)*)\"""")
OPTION = re.compile(r"(?<![\w-])--[a-z]")
# A rule id is for people and for programs outside; whose fault something is, is a field of Error (subject, kind).
RULE_COMPARED = re.compile(r"""\brule(?:\(\))?(?:\s*[=!]=\s*"|\.(?:starts_with|ends_with|contains|find|rfind|substr|compare)\()"""
                           r"""|"\s*[=!]=\s*[\w.>()-]*\brule\b""")

# What differs between model families is a column of their row in src/arch, never a branch on a name elsewhere, nor a table of names.
FAMILY_COMPARED = (r"""\bfamily_?(?:\.|->)name(?:\s*[=!]=|\.(?:starts_with|ends_with|contains|find|rfind|substr|compare)\()"""
                   r"""|\bmodel_type\w*(?:\.|->)(?:starts_with|ends_with|contains|find|rfind|substr|compare)\(\s*\"""")
FAMILY_NAMES = re.compile(r"""\bk\w*Types\w*(?:\[\])? = \{([^}]*)\}|\.gguf = ("[^"]+")|\{("[^"]+")(?=, "\w+", "\w*"\})""")
# Tables of other programs' words that are spelled like families.
WORDS_LIKE_FAMILIES = {
    "formats/gguf/llama_cpp/pre_tokenizers.cpp": "llama.cpp names its ways to split text after models",
    "formats/ggmlbin/read.cpp": "programs are called after the models that they run",
    "formats/gguf/vocabulary.cpp": "GGUF names kinds of tokenizers after models",
    "formats/mcf/model.cpp": "the document of the container numbers a few families",
}

HEIGHT = {layer: height for height, row in enumerate(LAYERS) for layer in row}
LAYER_OF_HEADER = {f"tare/{name}.hpp": layer for layer, names in PUBLIC.items() for name in names}


def layer_of(path):
    """The layer of "tare/x.hpp" or "io/x.hpp"; None for another library's header."""
    return LAYER_OF_HEADER.get(path) or (path.split("/")[0] if path.split("/")[0] in HEIGHT else None)


def room(path):
    """The folder of a container or a family of codecs; None for a file of the layer itself."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in ("formats", "codecs") and len(parts) > 2 else None


def problem_of(own_path, included, quoted, public):
    """What is wrong with `own_path` (as others include it) including `included`; None when nothing is. `public`: the
    headers of include/."""
    own, other = layer_of(own_path), layer_of(included)
    if own_path in public:
        if own is None:
            return "a public header without a layer: add it to PUBLIC in tools/layers.py"
        if included not in public and not included.startswith("tare/") and (quoted or "/" in included or "." in included):
            return "a public header may include the standard library and public headers only"
    if included.startswith("tare/") and other is None:
        return f"no such public header in tools/layers.py: {included}"
    if other is None:
        return "quotes are for our own headers" if quoted else None
    if not quoted:
        return "our own headers are included with quotes"
    if HEIGHT[other] > HEIGHT[own] or (HEIGHT[other] == HEIGHT[own] and other != own):
        return f"{own} may not know {other}"
    mine, theirs = room(own_path), room(included)
    if theirs is not None and own == other and theirs != mine and theirs not in BUILDS_ON.get(mine, set()):
        return f"{mine or own_path} may not know {theirs}"
    return inner_problem(own_path, included)


def inner_problem(own_path, included):
    for inner, (row, header) in INNER.items():
        outer = inner.rpartition("/")[0]
        if is_in(included, inner) and is_in(own_path, outer) and not is_in(own_path, inner) and own_path != row:
            return f"of {outer}, only {row} may know {inner}"
        if is_in(own_path, inner) and is_in(included, outer) and not is_in(included, inner) and included != header:
            return f"{inner} may know only {header} of {outer}"
    return None


def containers(root):
    """What each container is called: folder -> the spellings that only it may use."""
    called = {}
    for folder in sorted((root / "src/formats").glob("*/")):
        texts = "".join(file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.cpp")))
        called[folder.name] = {folder.name, *TITLE.findall(texts)}
    return called


def may_name(own_path, container):
    if own_path.startswith((f"formats/{container}/", f"codecs/{container}/", f"tare/formats/{container}.")):
        return True
    if container in {name.split("/")[1] for name in BUILDS_ON.get(room(own_path), set())}:
        return True
    return any(is_in(own_path, known) and (names == "*" or container in names.split())
               for known, (names, _) in KNOWS.items())


def is_in(own_path, known):
    return own_path == known or own_path.startswith(known + "/")


def named_containers(own_path, code, called):
    """(line, container) of each container that the file names."""
    for container, spellings in called.items():
        words = re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, sorted(spellings))) + r")(?![\w-])")
        for name in IDENTIFIER.finditer(STRING.sub('""', code)):
            if not own_path.startswith("codecs/") and container in map(str.lower, WORD.findall(name[0])):
                # Families of codecs have namespaces of the same names.
                yield name.string.count("\n", 0, name.start()) + 1, container
        for string in STRING.finditer(code):
            is_include = code[:string.start()].rsplit("\n", 1)[-1].lstrip().startswith("#")
            if not is_include and not COMMAND.match(string[1]) and words.search(string[1]):
                yield code.count("\n", 0, string.start()) + 1, container


def words_in(code, own_path):
    if own_path.startswith(("cli/", "options/")):
        return
    for literal in LITERAL.finditer(code):
        if literal[1] is not None and OPTION.search(literal[1]):
            yield literal.start(), f"an option of the command in {literal[0]}: give the error or change a Remedy instead"


def comparisons_in(code):
    for compared in RULE_COMPARED.finditer(code):
        yield compared.start(), "decides by the spelling of a rule id: ask a field of the Error or Finding"


def family_comparisons(root):
    """What compares the name of a family, or is the name of one that the tables of src/arch have."""
    tables = [root / "src/arch" / name for name in ("families.cpp", "model_types.cpp")]
    text = "".join(table.read_text(encoding="utf-8") for table in tables if table.exists())
    names = {literal[1] for row in FAMILY_NAMES.finditer(text) for literal in STRING.finditer("".join(filter(None, row.groups())))}
    names -= {"tiny_llama", "clip"}  # a format of its own, an option of its own
    if not names:
        return re.compile(FAMILY_COMPARED)
    named = f'"(?:{"|".join(map(re.escape, sorted(names)))})"'
    # The beginning of a name: "qwen" of "qwen2".
    begins = {name[:end] for name in names for end in range(3, len(name) + 1)}
    begun = f'\\.starts_with\\(\\s*"(?:{"|".join(map(re.escape, sorted(begins, reverse=True)))})"'
    return re.compile(rf"{FAMILY_COMPARED}|{begun}|{named}")


def families_in(code, own_path, comparisons):
    if own_path.startswith("arch/"):
        return
    for compared in comparisons.finditer(code):
        if own_path not in WORDS_LIKE_FAMILIES or "." in compared[0]:
            yield compared.start(), "decides by the name of a model family: make it a column of a row in src/arch"


ADVISED_NAME = re.compile(r"Remedy::(?:skip|match|keep)\s*,\s*(?:quote|printable|escape_name)\(")


def advised_names_in(code):
    for found in ADVISED_NAME.finditer(code):
        yield found.start(), "advises a name as a message spells it, which is not the pattern for it: use escape_glob (base/glob.hpp)"


# What one compiler or library of those that Tare is built with does not take, or what ends the program; and what to write instead.
PITFALLS = [
    (re.compile(r"(?<![\w.>])(?<!std::)quoted\("), "GCC 13 and later find std::quoted by its argument: give it another name"),
    (re.compile(r"\bunordered_(?:map|set)<(?:std::string|std::string_view|std::u?int\w+)(?:, [\w:]+)?>"),
     "hashes what a file chooses with a known key: use the tables of base/name_map.hpp"),
    (re.compile(r"\bviews::reverse\b|\branges::(?:(?:stable_)?partition|unique|remove(?:_if)?)\("), "clang 14 does not compile it: use the algorithm that takes two iterators"),
    (re.compile(r"\b(?:path\([^()]*\)|parent_path\(\)|filename\(\)|path\(\)|directory) /=? "),
     "joins std::filesystem::path, which ends the program if memory runs out: use io::path_in (io/listing.hpp)"),
]


def pitfalls_in(code):
    for pattern, problem in PITFALLS:
        for found in pattern.finditer(code):
            yield found.start(), problem


def mutexes_in(code, own_path):
    if own_path == "base/process_mutex.cpp":
        return
    for found in PROCESS_MUTEX.finditer(code):
        yield found.start(), "a mutex of the process that a fork may copy while it is locked: use ProcessMutex (base/process_mutex.hpp)"


def check(root, partial=()):
    """`partial`: what of KNOWS the tree shows only a part of."""
    problems, named = [], set()
    called = containers(root)
    families = family_comparisons(root)
    public = {file.relative_to(root / "include").as_posix() for file in (root / "include").rglob("*.hpp")}
    for base in (root / "src", root / "include"):
        for file in sorted([*base.rglob("*.hpp"), *base.rglob("*.cpp")]):
            own_path = file.relative_to(base).as_posix()
            folder = own_path.split("/")[0]
            if base.name == "include" and folder != "tare" and folder not in PUBLIC_FOLDERS:
                problems.append(f"{file}: public headers are in include/tare, or in a folder of PUBLIC_FOLDERS")
                continue
            if layer_of(own_path) is None and folder != "tare":
                problems.append(f"{file}: not in a layer; the layers are {', '.join(HEIGHT)}")
                continue
            text = file.read_text(encoding="utf-8")
            code = COMMENT.sub("", text)
            looks = VIEW.search(code) if base.name == "src" else None
            if looks and own_path not in VIEWS:
                line = code.count("\n", 0, looks.start()) + 1
                problems.append(f"{file}:{line}: looks at bytes that may change meanwhile: copy them (io/metadata.hpp), or "
                                "say in VIEWS of tools/layers.py why it does not matter")
            spelled = WHOLE_NAME.search(code) if base.name == "src" else None
            if spelled and not any(is_in(own_path, known) for known in WHOLE_NAMES):
                line = code.count("\n", 0, spelled.start()) + 1
                problems.append(f"{file}:{line}: spells a whole name: messages use quote (base/printable.hpp); data is listed in "
                                "WHOLE_NAMES of tools/layers.py")
            stored = TAKES_STORED_FORM.search(code) if base.name == "src" else None
            if stored and not any(is_in(own_path, known) for known in STORED_FORM):
                line = code.count("\n", 0, stored.start()) + 1
                problems.append(f"{file}:{line}: separates packed weights: a row of formats() does that when it stores them, and `open_as` "
                                "on request; or say in STORED_FORM of tools/layers.py why it must")
            if not looks and base.name == "src" and own_path in VIEWS:
                problems.append(f"{file}: does not look at bytes in place any more: take it out of VIEWS in tools/layers.py")
            for line, container in named_containers(own_path, code, called):
                named.update((known, container) for known in KNOWS if is_in(own_path, known))
                if may_name(own_path, container):
                    continue
                problems.append(f"{file}:{line}: names {container}: ask the rows of formats(), or say in KNOWS of "
                                "tools/layers.py why it may")
            for place, problem in [*words_in(code, own_path), *comparisons_in(code), *advised_names_in(code), *families_in(code, own_path, families),
                                   *mutexes_in(code, own_path), *pitfalls_in(code)]:
                problems.append(f"{file}:{code.count(chr(10), 0, place) + 1}: {problem}")
            for include in INCLUDE.finditer(text):
                problem = problem_of(own_path, include[2], include[1] == '"', public)
                if problem:
                    line = text.count("\n", 0, include.start(2)) + 1
                    problems.append(f"{file}:{line}: {include[2]}: {problem}")
    for known, (names, _) in KNOWS.items():
        if names != "*" and known not in partial and (root / "src" / known).exists():
            problems += [f"{known}: does not name {name} any more: take it out of KNOWS in tools/layers.py"
                         for name in names.split() if (known, name) not in named]
    for file, line, value in bare_in_repr(root / "python/tare"):
        problems.append(f"{file}:{line}: {value} can be a file's text, which a terminal obeys: use !r, or shown (python/tare/_text.py)")
    circle = import_circle(root / "python/tare")
    if circle:
        problems.append(f"python/tare: a circle of imports: {' <- '.join(circle)}")
    return problems


def bare_in_repr(package):
    """(file, line, value) of what a `__repr__` puts into its text without `!r`: most of it comes from files."""
    for file in sorted(package.rglob("*.py")):
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef) or function.name != "__repr__":
                continue
            for value in ast.walk(function):
                if isinstance(value, ast.FormattedValue) and value.conversion != ord("r") and is_bare(value.value):
                    yield file, value.lineno, ast.unparse(value.value)


def is_bare(value):
    if isinstance(value, (ast.BoolOp, ast.IfExp)):
        return any(map(is_bare, ast.iter_child_nodes(value)))
    return isinstance(value, (ast.Attribute, ast.Subscript)) and ast.unparse(value) != "type(self).__name__"


COMPILED = "_tare"  # the module of the package that is not a Python file


def relative_imports(file, name):
    """The modules of its package that a module may import from: (module, name), as 'from module import name' has them."""
    parents = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            module = parents[:len(parents) - node.level + 1] + (node.module.split(".") if node.module else [])
            yield from ((".".join(module), imported.name) for imported in node.names)


def import_circle(package):
    """A circle of imports in a Python package, as a list of modules; empty if there is none. Imports inside functions count."""
    modules = {}
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    graph = {}
    for name, file in modules.items():
        known = ((f"{module}.{imported}" if f"{module}.{imported}" in modules else module)
                 for module, imported in relative_imports(file, name) if COMPILED not in (imported, module.rpartition(".")[2]))
        graph[name] = {module for module in known if module != name}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


OBJECT = re.compile(r"unity_src_([a-z_]+?)_\d+_cxx|/src/((?:\w+/)+)\w+\.cpp\.o")
# The tables name their rows.
ROW = re.compile(r"::k[A-Z]\w*$")


def folder_of_object(member, folders):
    """formats/zt for the object of that folder; None for another library's."""
    found = OBJECT.search(member)
    if found is None:
        return None
    return folders.get(found[1]) if found[1] else found[2].rstrip("/")


def upward_links(symbols, folders):
    """What is wrong with (object, kind, name) as nm lists them."""
    home, uses = {}, set()
    for member, kind, name in symbols:
        folder = folder_of_object(member, folders)
        if folder is None:
            continue
        if kind in "TBDR":
            home[name] = folder
        elif kind == "U":
            uses.add((folder, name))
    problems = []
    for user, name in sorted(uses):
        owner = home.get(name)
        if owner is None or ROW.search(name):
            continue
        mine, theirs = user.split("/")[0], owner.split("/")[0]
        if HEIGHT[theirs] > HEIGHT[mine] or (HEIGHT[theirs] == HEIGHT[mine] and theirs != mine):
            problems.append(f"{user} uses {name}, which {owner} defines")
        elif mine == theirs and "/" in owner and owner != user and owner not in BUILDS_ON.get(user, set()):
            problems.append(f"{user} uses {name}, which {owner} defines")
    return problems


def check_links(root, library):
    folders = {path.relative_to(root / "src").as_posix().replace("/", "_"): path.relative_to(root / "src").as_posix()
               for path in (root / "src").rglob("*/")}
    listed = subprocess.run(["nm", "-AC", library], capture_output=True, text=True, check=True).stdout
    symbols = []
    for line in listed.splitlines():
        found = re.match(r"[^:]*:([^:]+):[0-9a-f ]{16} (\w) (.*)", line)
        if found:
            symbols.append(found.groups())
    if not any(folder_of_object(member, folders) for member, _, _ in symbols):
        return [f"{library}: no object of ours in it"]
    return upward_links(symbols, folders)


def expect(files, wrong):
    """Whether a tree of these files has a problem is as expected, or the self-test ends."""
    with tempfile.TemporaryDirectory() as directory:
        for name, content in files.items():
            file = pathlib.Path(directory, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content + "\n", encoding="utf-8")
        found = check(pathlib.Path(directory), KNOWS)
    if bool(found) != wrong:
        sys.exit(f"{files}: {'a problem' if wrong else 'nothing'} expected, found {found}")


def selftest():
    cases = [
        ("src/wire/a.cpp", '"tare/model.hpp"', True),
        ("src/wire/a.cpp", '"tare/value.hpp"', False),
        ("src/wire/a.cpp", '"wire/b.hpp"', False),
        ("src/base/a.cpp", '"io/zstd.hpp"', True),
        ("src/model/a.cpp", '"codecs/rows.hpp"', True),
        ("src/model/a.cpp", '"arch/names.hpp"', True),
        ("src/arch/a.cpp", '"resources/resources.hpp"', True),
        ("src/resources/a.cpp", '"arch/names.hpp"', False),
        ("src/resources/a.cpp", '"codecs/packs/find.hpp"', False),
        ("src/codecs/packs/a.cpp", '"resources/packed_config.hpp"', True),
        ("src/formats/zt/zt.cpp", '"convert/adapt.hpp"', True),
        ("src/formats/zt/zt.cpp", '"formats/npy/npy.hpp"', True),
        ("src/formats/zt/write.cpp", '"formats/zt/zt.hpp"', False),
        ("src/formats/zt/zt.cpp", '"formats/rows.hpp"', False),
        ("src/formats/npz/npz.cpp", '"formats/npy/npy.hpp"', False),
        ("src/formats/npy/npy.cpp", '"formats/npz/private.hpp"', True),
        ("src/formats/registry.cpp", '"formats/zt/zt.hpp"', True),
        ("src/codecs/mcf/mcf.cpp", '"codecs/streams.hpp"', False),
        ("src/codecs/mcf/mcf.cpp", '"codecs/sparse/sparse.hpp"', True),
        ("src/formats/mcf/tensors.cpp", '"codecs/mcf/layout.hpp"', False),
        ("src/formats/hf/write.cpp", '"formats/safetensors/safetensors.hpp"', False),
        ("src/formats/safetensors/read.cpp", '"formats/hf/hf.hpp"', True),
        ("src/formats/gguf/gguf.cpp", '"formats/gguf/llama_cpp/llama_cpp.hpp"', False),
        ("src/formats/gguf/read.cpp", '"formats/gguf/llama_cpp/llama_cpp.hpp"', True),
        ("src/formats/gguf/llama_cpp/adopt.cpp", '"formats/gguf/keys.hpp"', False),
        ("src/formats/gguf/llama_cpp/verbs/add.cpp", '"formats/gguf/llama_cpp/conventions.hpp"', False),
        ("src/formats/gguf/llama_cpp/adopt.cpp", '"formats/gguf/gguf.hpp"', True),
        ("src/convert/a.cpp", '"tare/inspect.hpp"', True),
        ("src/inspect/a.cpp", '"cli/verbs.hpp"', True),
        ("src/inspect/a.cpp", '"tare/tare.hpp"', True),
        ("src/cli/a.cpp", '"tare/inspect.hpp"', False),
        ("src/io/a.cpp", "<zstd.h>", False),
        ("src/io/a.cpp", '"zstd.h"', True),
        ("src/io/a.cpp", "<tare/sink.hpp>", True),
        ("src/other/a.cpp", "<vector>", True),
        ("include/tare/model.hpp", '"tare/blob.hpp"', False),
        ("include/tare/model.hpp", '"tare/formats.hpp"', True),
        ("include/tare/model.hpp", "<fmt/format.h>", True),
        ("include/tare/model.hpp", "<vector>", False),
        ("include/tare/unheard_of.hpp", "<vector>", True),
        ("include/tiny_llama/model.hpp", '"tare/model.hpp"', False),
        ("include/tiny_llama/model.hpp", '"formats/tllm/tllm.hpp"', True),
        ("include/tiny_llama/model.hpp", "<fmt/format.h>", True),
        ("include/other/model.hpp", "<vector>", True),
        ("src/tiny_llama/a.cpp", '"formats/tllm/tllm.hpp"', False),
        ("src/tiny_llama/a.cpp", '"tiny_llama/weights.hpp"', False),
        ("src/tiny_llama/a.cpp", '"tare/convert.hpp"', True),
        ("src/formats/tllm/tllm.cpp", '"tiny_llama/model.hpp"', True),
        ("src/cli/a.cpp", '"tiny_llama/model.hpp"', False),
    ]
    looks = [
        ("src/formats/zt/zt.cpp", "source->view(0, 8);", True),
        ("src/wire/zip.cpp", "const auto all = source_.view(0, 8);", True),
        ("src/wire/zip.cpp", "// NumPy says `.view(bfloat16)`", False),
        ("src/wire/zip.cpp", "std::string_view name;", False),
        ("src/formats/npy/columns.hpp", "const auto view = stored_.view();", False),
        ("src/formats/npy/columns.hpp", "stored_.read(0, copy);", True),
        ("include/tare/source.hpp", "source->view(0, 8);", False),
        ("src/wire/zip.cpp", "error.about(escape_name(name));", True),
        ("src/wire/zip.cpp", "error.about(quote(name));", False),
        ("src/cli/verbs/ls.cpp", "table.add({escape_name(name)});", False),
        ("src/convert/merge.cpp", "codec::packs::separate(model);", True),
        ("src/view/a.cpp", "const packs::StoredForm arrays(model);", True),
        ("src/inspect/content_digest.cpp", "const packs::StoredForm arrays(model);", False),
        ("src/view/a.cpp", "fmt::join(separate(words));", False),
    ]
    words = [
        ("src/io/a.cpp", 'throw Error(k, "io.x", "exists already; --force replaces it");', True),
        ("src/io/a.cpp", 'const char c = \'"\'; f("without --range");', True),
        ("src/io/a.cpp", 'f("exists already");  // --force replaces it', False),
        ("src/io/a.cpp", 'f("repository--module"), g("a -- b"), --count;', False),
        ("src/cli/a.cpp", 'f("--force replaces it");', False),
        ("src/cli/a.cpp", 'if (error.rule() == "io.open.missing") return;', True),
        ("src/io/a.cpp", 'if (found.rule != "verify.memory") return;', True),
        ("src/io/a.cpp", 'if ("io.x" == error.rule()) return;', True),
        ("src/io/a.cpp", 'return error.rule().starts_with("io.");', True),
        ("src/io/a.cpp", 'return a.rule == b.rule && error.kind() == ErrorKind::io;', False),
        ("src/io/a.cpp", 'json.key("rule").text(error.rule());', False),
        ("src/io/a.cpp", "std::mutex table_mutex;", True),
        ("src/io/a.cpp", "inline std::shared_mutex table_mutex;", True),
        ("src/io/a.cpp", "  static std::mutex& mutex = *new std::mutex;", True),
        ("src/io/a.cpp", "  static Forever<std::mutex> mutex;", True),
        ("src/io/a.cpp", "  std::mutex mutex_;", False),
        ("src/io/a.cpp", "ProcessMutex table_mutex(LockOrder::table);", False),
        ("src/io/a.cpp", "throw error.remedy(Remedy::skip, quote(name));", True),
        ("src/io/a.cpp", "throw error.remedy(Remedy::skip, escape_glob(name));", False),
    ]
    for path, text, wrong in looks + words:
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory, path)
            file.parent.mkdir(parents=True)
            file.write_text(text + "\n", encoding="utf-8")
            found = check(pathlib.Path(directory), KNOWS)
            if bool(found) != wrong:
                sys.exit(f"{path} with {text}: {'a problem' if wrong else 'nothing'} expected, found {found}")
    names = [
        ("src/convert/a.cpp", 'find("toy.key");', True),
        ("src/convert/a.cpp", 'find("toys.key");', False),
        ("src/convert/a.cpp", "// toy is a container", False),
        ("src/convert/a.cpp", 'words("a Toy Box file");', True),
        ("src/convert/a.cpp", "toy::read(x);", True),
        ("src/convert/a.cpp", "enum class Kind { other, toy };", True),
        ("src/convert/a.cpp", "int toys = 1;", False),
        ("src/cli/verbs/ls.cpp", 'example("tare ls model.toy");', False),
        ("src/cli/verbs/ls.cpp", 'words("toy");', True),
        ("src/cli/demo/story.cpp", 'words("toy");', True),
        ("src/convert/a.cpp", "find_toy_family(x);", True),
        ("src/convert/a.cpp", "constexpr int kToyKernels = 1, kToyota = 2;", True),
        ("src/convert/a.cpp", "constexpr int kToyota = 2;", False),
        ("src/formats/registry.cpp", "toy::kFormat", False),
        ("src/formats/unknown.cpp", "toy::kFormat", True),
        ("src/formats/zt/read.cpp", 'words("toy");', True),
        ("src/formats/toy/read.cpp", 'words("toy");', False),
        ("include/tare/formats.hpp", 'words("toy");', True),
        ("include/tare/formats/toy.hpp", 'words("toy");', False),
    ]
    for path, text, wrong in names:
        expect({path: text, "src/formats/toy/toy.cpp": '.title = "Toy Box, version 1"'}, wrong)
    branches = [
        ("src/convert/a.cpp", 'if (family->name == other) go();', True),
        ("src/convert/a.cpp", 'if (family_.name.starts_with("b")) go();', True),
        ("src/convert/a.cpp", 'if (type == "bert") go();', True),
        ("src/convert/a.cpp", 'if (*type != Value("bert")) go();', True),
        ("src/convert/a.cpp", 'if (kind == "bert") go();', True),
        ("src/convert/a.cpp", 'if (kind.starts_with("ber")) go();', True),
        ("src/convert/a.cpp", 'if (config.model_type->find("xl") != npos) go();', True),
        ("src/convert/a.cpp", 'constexpr Row kRows[] = {{"bert", 1}};', True),
        ("src/convert/a.cpp", 'if (kind.starts_with("blk.")) go();', False),
        ("src/convert/a.cpp", '// as "bert" has it', False),
        ("src/formats/gguf/vocabulary.cpp", 'constexpr Row kRows[] = {{"bert", 1}};', False),
        ("src/formats/gguf/vocabulary.cpp", 'if (kind.starts_with("bert")) go();', True),
        ("src/convert/a.cpp", 'if (type == "bart") go();', False),
        ("src/arch/a.cpp", 'if (family->name == "bert") go();', False),
    ]
    for path, text, wrong in branches:
        expect({path: text, "src/arch/families.cpp": 'constexpr Words kBertTypes = {"bert"};'}, wrong)
    pitfalls = [
        ('std::string quoted(std::string_view);', True),
        ('return quoted(text);', True),
        ('os << std::quoted(text);', False),
        ('const auto quoted = quote(text);', False),
        ('for (int x : values | std::views::reverse) go();', True),
        ('std::ranges::stable_partition(values, odd);', True),
        ('std::stable_partition(values.begin(), values.end(), odd);', False),
        ('return fs::path(directory) / name;', True),
        ('path.parent_path() / name;', True),
        ('bytes / 8;', False),
        ('std::unordered_set<std::string_view> names;', True),
        ('std::unordered_map<std::uint64_t, Merge> merges;', True),
        ('std::unordered_map<std::uint64_t, Merge, KeyedNumberHash> merges;', False),
        ('std::unordered_set<const Token*> ranked;', False),
    ]
    for text, wrong in pitfalls:
        expect({"src/convert/a.cpp": text}, wrong)
    for value, wrong in [("self.kind", True), ("facts['kind']", True), ("self.kind or 'none'", True), ("self.kind!r", False),
                         ("shown(self.kind)", False), ("len(self.kind)", False), ("type(self).__name__", False)]:
        expect({"python/tare/a.py": f'class A:\n    def __repr__(self):\n        return f"<{{{value}}}>"'}, wrong)
    with tempfile.TemporaryDirectory() as directory:
        group = pathlib.Path(directory, "src/codecs/group/a.cpp")
        (pathlib.Path(directory) / "src/formats/zt").mkdir(parents=True)
        group.parent.mkdir(parents=True)
        for text, stale in (('words("zt.group");', False), ('words("group");', True)):
            group.write_text(text)
            if bool(check(pathlib.Path(directory))) != stale:
                sys.exit(f"codecs/group with {text}: KNOWS is {'' if stale else 'not '}out of date")
    folders = {"wire": "wire", "model": "model", "formats_zt": "formats/zt", "formats_npy": "formats/npy", "formats": "formats",
               "formats_npz": "formats/npz"}
    unit = "unity_src_{}_0_cxx.cxx.o"
    for user, owner, name, wrong in [
        ("wire", "model", "tare::Tensor::bytes()", True),
        ("model", "wire", "tare::wire::read()", False),
        ("formats_zt", "formats_npy", "tare::npy::read()", True),
        ("formats_npz", "formats_npy", "tare::npy::read()", False),
        ("formats", "formats_npy", "tare::npy::read()", True),
        ("formats", "formats_npy", "tare::npy::kFormat", False),
    ]:
        found = upward_links([(unit.format(owner), "T", name), (unit.format(user), "U", name)], folders)
        if bool(found) != wrong:
            sys.exit(f"{user} using {name} of {owner}: {'a problem' if wrong else 'nothing'} expected, found {found}")
    for modules, wrong in [
        ({"__init__.py": "from ._a import x", "_a.py": "from . import _tare"}, False),
        ({"__init__.py": "from ._a import x", "_a.py": "from . import _b", "_b.py": "import os"}, False),
        ({"_a.py": "from . import _b", "_b.py": "def f():\n    from ._a import x"}, True),
        ({"_a.py": "from .part import x", "part/__init__.py": "from .. import _b", "_b.py": "from ._a import y"}, True),
        ({"__init__.py": "from ._a import x", "_a.py": "from . import x"}, True),
    ]:
        with tempfile.TemporaryDirectory() as directory:
            for name, text in modules.items():
                file = pathlib.Path(directory, "python/tare", name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text + "\n", encoding="utf-8")
            found = check(pathlib.Path(directory), KNOWS)
            if bool(found) != wrong:
                sys.exit(f"{modules}: {'a problem' if wrong else 'nothing'} expected, found {found}")
    for path, include, wrong in cases:
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory, path)
            file.parent.mkdir(parents=True)
            file.write_text(f"#pragma once\n  #  include {include}\n", encoding="utf-8")
            found = check(pathlib.Path(directory), KNOWS)
            if bool(found) != wrong:
                sys.exit(f"{path} including {include}: {'a problem' if wrong else 'nothing'} expected, found {found}")


def main(arguments):
    if arguments == ["--selftest"]:
        return selftest()
    here = pathlib.Path(__file__).resolve().parent.parent
    if arguments[:1] == ["--links"]:
        problems = check_links(here, arguments[1])
        good = "link names point down only"
    else:
        problems = check(pathlib.Path(arguments[0]) if arguments else here)
        good = ("includes point down only, containers are known to themselves and families to arch, nobody parses bytes in place, speaks of "
                "options or compares rule ids, and Python modules import no circle")
    print("\n".join(problems) if problems else good)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main(sys.argv[1:])
