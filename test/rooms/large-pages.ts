const name = 'GLIBC_TUNABLES';
const ours = 'glibc.malloc.hugetlb=1';

/**
 * What a room is started with so that glibc asks for large pages for what it allocates: each program that is started
 * costs a copy of the page tables, and a room starts thousands. Nothing where somebody has set their own; without
 * effect where the C library or the kernel does not know it.
 */
export function withLargePages(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return env[name] === undefined ? { ...env, [name]: ours } : env;
}

/** Takes it out again: the allocator has read it when the process started, and what a test starts is not to have it. */
export function forgetLargePages(env: NodeJS.ProcessEnv): void {
  if (env[name] === ours) delete env[name];
}
