const builtins =
  /^(?:builtins|__builtins__|__builtin__|six\.moves\.builtins)\.(?:__dict__\.)?(?!__dict__$)(?=.)/;
/** Classes whose objects execute text: what is called on them is known by their name. */
const made =
  /^(?:code\.Interactive(?:Interpreter|Console)|(?:cProfile|profile)\.Profile|pdb\.Pdb|bdb\.Bdb|trace\.Trace)$/;
const libraries = /^ctypes\.(?:CDLL|PyDLL|WinDLL|OleDLL|(?:cdll|windll|pydll)\.LoadLibrary)$/;

/** What a call is given: what an argument reaches, and what it says as a literal. */
export interface PythonGiven {
  path(index: number): string | undefined;
  said(index: number): string | undefined;
}

/**
 * What the value of a call reaches (`getattr(os, 'system')`, `__import__('os')`), or `undefined` for anything of the
 * file's own.
 */
export function pythonCallPath(path: string | undefined, given: PythonGiven): string | undefined {
  switch (path) {
    case undefined:
      return undefined;
    case '__import__':
    case 'importlib.import_module':
    case 'importlib.__import__':
      return given.said(0);
    case 'getattr':
      return member(given.path(0), given.said(1));
    case 'globals':
    case 'locals':
      return 'globals()';
    case 'vars': {
      const base = given.path(0);
      return base === undefined ? 'globals()' : `${base}(vars)`;
    }
    case 'functools.partial':
      return given.path(0);
    case 'operator.attrgetter':
    case 'operator.methodcaller': {
      const part = given.said(0);
      return part === undefined ? undefined : `${path}(${part})`;
    }
  }
  if (made.test(path)) return `${path}()`;
  if (libraries.test(path)) return 'ctypes.CDLL()';
  const part = /^operator\.attrgetter\((.+)\)$/.exec(path)?.[1];
  return part === undefined ? undefined : member(given.path(0), part);
}

/** A path without the module of the builtins, whose names need none. */
export function plainPythonPath(path: string): string {
  return path.replace(builtins, '');
}

function member(base: string | undefined, part: string | undefined): string | undefined {
  return base === undefined || part === undefined ? undefined : plainPythonPath(`${base}.${part}`);
}
