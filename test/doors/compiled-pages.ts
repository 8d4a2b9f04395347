import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { blocksOf, compile, makeOutsider, type Outsider } from './packed-package.ts';

const given = fileURLToPath(new URL('../../fixtures/doors/', import.meta.url));
let made: Outsider | undefined;

/**
 * A project of somebody else's with every program of our pages, the parts that testers are tried on, and a gate that
 * sees nothing beside that of the page; compiled against the packed package, once per process. Throws with the
 * compiler's words where any of them does not compile, and where a page holds more programs than are known here.
 */
export function compiledPages(): Outsider {
  if (made !== undefined) return made;
  const outsider = makeOutsider();
  const write = (name: string, text: string): void => writeFileSync(join(outsider.directory, name), text);
  const [embed = ''] = programsOf('docs/guides/embed.md', 1);
  const [verify = ''] = programsOf('docs/reference/verifying.md', 1);
  const [gate = '', test = ''] = programsOf('docs/reference/plugins.md', 2);
  write('embed.ts', embed);
  write('verify.ts', verify);
  write('gate.ts', gate);
  write('gate.test.ts', test);
  const blind = gate.replace("line.includes('TODO')", 'line.length > 9000');
  if (blind === gate || !test.includes("'./gate.js'")) throw new Error('the gate of the page is another one');
  write('blind-gate.ts', blind);
  write('blind-gate.test.ts', test.replaceAll("'./gate.js'", "'./blind-gate.js'"));
  cpSync(join(given, 'with-gate.ts'), join(outsider.directory, 'with-gate.ts'));
  cpSync(join(given, 'testers'), outsider.directory, { recursive: true });
  const { status, out } = compile(outsider);
  if (status !== 0) throw new Error(out);
  made = outsider;
  return made;
}

function programsOf(page: string, count: number): readonly string[] {
  const programs = blocksOf(page, 'ts');
  if (programs.length !== count)
    throw new Error(`expected ${count} programs in ${page}, found ${programs.length}`);
  return programs;
}
