/** One thing wrong with a spec (resolutions A, Invalid spec). `path` is a JSON Pointer into the author's document. */
export interface Issue {
  readonly code: string;
  readonly path: string;
  /** What was expected, what was found. */
  readonly message: string;
  readonly severity: 'error' | 'warning';
}

/** An issue of severity `error`. */
export function error(code: string, path: string, message: string): Issue {
  return { code, path, message, severity: 'error' };
}

/** An issue of severity `warning`: it is reported and refuses nothing. */
export function warning(code: string, path: string, message: string): Issue {
  return { code, path, message, severity: 'warning' };
}
