/**
 * Loads a command's modules with a fixed young generation. Loading creates mostly garbage, and V8 would keep 30 MB
 * for it. The command itself runs with V8's default.
 *
 * Loading becomes a third slower. That pays off for a command that starts many copies of this process, stays running,
 * or (around its work) has bounded memory.
 */
export async function loadLean<T>(load: () => Promise<T>): Promise<T> {
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--semi-space-growth-factor=1');
  try {
    return await load();
  } finally {
    setFlagsFromString('--semi-space-growth-factor=2');
  }
}
