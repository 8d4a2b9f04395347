const segment = /^(?!\.{1,2}$)[A-Za-z0-9_.+@-]{1,255}$/;

/**
 * Which paths a command may name a program by: those in untracked directories that its workspace was given, such as
 * `.venv/bin/python`. A change can put nothing there.
 */
export function programsIn(directories: readonly string[]): (path: string) => boolean {
  return (path) => isPlain(path) && directories.some((directory) => path.startsWith(`${directory}/`));
}

/** Paths that `programsIn` may accept, for text that is read before it is known what a workspace is given. */
export function mayBeProgram(path: string): boolean {
  return isPlain(path) && /\/\.?bin\/[^/]+$/.test(path);
}

function isPlain(path: string): boolean {
  return path.length <= 1024 && path.split('/').every((part) => segment.test(part));
}
