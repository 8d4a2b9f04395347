import type { HouseFile } from './house.ts';
import type { HouseRule } from './rule-kinds.ts';

const named =
  /\bdefineTask<typeof run>\(\s*new URL\('\.\/([a-z0-9-]+-in-thread\.ts)', import\.meta\.url\),?\s*\)/g;

/**
 * What a thread runs is named by a line of code that says the module twice: once for the thread, once for the compiler.
 */
export const taskRule: HouseRule = {
  name: 'a task of the pool is a module `…-in-thread.ts`, named where its `run` is known',
  check: ({ files }) => {
    const threads = files.filter(({ path }) => path.endsWith('-in-thread.ts')).map(({ path }) => path);
    const definers = files.filter(
      ({ path, code }) =>
        !/^(?:test|bench)\//.test(path) &&
        /\bdefineTask\s*[<(]/.test(code.replace(/function defineTask/g, '')),
    );
    const reached = definers.flatMap(modulesOf);
    return {
      matched: definers.length,
      violations: [
        ...definers.flatMap(strayUses),
        ...threads.filter((path) => !reached.includes(path)).map((path) => `${path} is no task's module`),
      ],
    };
  },
};

function modulesOf({ path, text }: HouseFile): readonly string[] {
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  return [...text.matchAll(named)].map((match) => folder + (match[1] ?? ''));
}

function strayUses({ path, text, code, imports }: HouseFile): readonly string[] {
  const uses = [...code.replace(/function defineTask/g, '').matchAll(/\bdefineTask\s*[<(]/g)].length;
  const well = [...text.matchAll(named)].filter((match) =>
    imports.some(({ specifier, kind }) => specifier === `./${match[1]}` && kind === 'type'),
  );
  return uses === well.length ? [] : [`${path} names a task in another way`];
}
