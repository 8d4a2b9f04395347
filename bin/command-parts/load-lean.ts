/**
 * Loads a command's modules with a fixed young generation. Loading creates mostly garbage, and V8 would keep 30 MB
 * for it. The command itself runs with V8's default, or, if it `stays` lean, with the young generation as it is then:
 * a run starts many processes, each costs a copy of its page tables, and most of what it allocates is garbage too.
 *
 * Loading becomes a third slower. That pays off for a command that starts many copies of this process, stays running,
 * or (around its work) has bounded memory.
 */
export async function loadLean<T>(load: () => Promise<T>, stays = false): Promise<T> {
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--semi-space-growth-factor=1');
  try {
    return await load();
  } finally {
    if (!stays) setFlagsFromString('--semi-space-growth-factor=2');
  }
}
