import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { bubblewrapSandbox } from '../plugins/sandbox/bubblewrap.ts';
import { maxFrameBytes, parseFrame, pluginProcess } from '../plugins/third-party/process/plugin-process.ts';
import { lineCutter } from '../workspace/process/capture.ts';
import { startProcess } from '../workspace/process/spawn.ts';
import { figure, median, timed } from './measure.ts';
import { sized } from './sized.ts';

const rounds = 11;
const laterCalls = 300;

/** A plugin's process over a bare pipe: to its first answer, and from call to call; beside it the sandbox. */
export async function benchPluginProcess(): Promise<boolean> {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'writ-bench-plugin-'));
  try {
    for (const place of ['plugin', 'empty']) mkdirSync(join(root, place));
    writeFileSync(join(root, 'plugin/package.json'), '{"type":"module"}');
    writeFileSync(join(root, 'plugin/main.js'), 'export const echo = (value) => value;\n');
    // As it is published: without types to strip.
    for (const name of ['entry', 'read-in-pieces']) {
      const text = readFileSync(resolve(`plugins/third-party/process/inside/${name}.ts`), 'utf8');
      writeFileSync(join(root, `${name}.mjs`), stripTypeScriptTypes(text).replaceAll(".ts'", ".mjs'"));
    }
    const bare: { first: number; later: number }[] = [];
    const confined: { first: number; later: number }[] = [];
    for (let round = 0; round < sized(rounds, 1); round += 1) {
      bare.push(await overBarePipe(root));
      confined.push(await inSandbox(root));
    }
    const of = (found: typeof bare, what: 'first' | 'later') => median(found.map((one) => one[what]));
    const detail = (what: 'first' | 'later') => `in the sandbox ${of(confined, what).toFixed(2)} ms`;
    return [
      figure(
        'plugin process, first answer',
        of(bare, 'first'),
        60,
        'ms',
        `${detail('first')}, types stripped there`,
      ),
      figure('plugin process, a later call', of(bare, 'later'), 1, 'ms', detail('later')),
    ].every(Boolean);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function overBarePipe(root: string): Promise<{ first: number; later: number }> {
  let answered = (): void => {};
  let id = 0;
  let started: ReturnType<typeof startProcess> | undefined;
  const first = await timed(async () => {
    const argv = [
      process.execPath,
      '--no-warnings',
      '--permission',
      '--allow-fs-read=*',
      join(root, 'entry.mjs'),
    ];
    started = startProcess(argv, { cwd: root, env: {} });
    const cut = lineCutter(maxFrameBytes, () => new RangeError('a line without an end'));
    started.stdout.on('data', (chunk: Buffer) => {
      for (const line of cut(chunk)) if (parseFrame(line).id === id) answered();
    });
    await ask();
  });
  const all = await timed(async () => {
    for (let call = 0; call < laterCalls; call += 1) await ask();
  });
  started?.kill();
  await started?.exited.catch(() => undefined);
  return { first, later: all / laterCalls };

  async function ask(): Promise<void> {
    id += 1;
    const asked = { id, module: join(root, 'plugin/main.js'), call: 'echo', args: [id, {}], bytes: [] };
    const told = new Promise<void>((done) => {
      answered = done;
    });
    started?.stdin.write(`${JSON.stringify(asked)}\n`);
    const ended = started?.exited.then(({ stderr }) => Promise.reject(new Error(`it ended: ${stderr}`)));
    await Promise.race([told, ended]);
  }
}

async function inSandbox(root: string): Promise<{ first: number; later: number }> {
  const opened = pluginProcess({
    plugin: 'bench',
    directory: join(root, 'plugin'),
    empty: join(root, 'empty'),
    sandbox: bubblewrapSandbox(),
    hosts: [],
  });
  const bounds = { idleMs: 30_000, withinMs: 30_000, maxBytes: 4096, secrets: [] };
  const call = { module: 'main.js', call: 'echo', args: [1, {}], ...bounds };
  try {
    const first = await timed(() => opened.ask(call));
    const all = await timed(async () => {
      for (let later = 0; later < laterCalls; later += 1) await opened.ask(call);
    });
    return { first, later: all / laterCalls };
  } finally {
    await opened.close();
  }
}
