/* Tests the promises of a store, with several processes. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../core/base/clock.ts';
import type { ObjectStore } from '../../../core/interfaces/store.ts';
import type { StoreSource } from '../../../core/interfaces/store-source.ts';
import { type CaseRunner, runCases } from '../../../plugins/testers/run-cases.ts';
import { openRepository } from '../../../workspace/git/repository.ts';
import { type StartedProcess, startProcess } from '../../../workspace/process/spawn.ts';
import { instant } from '../../waiting/instant.ts';
import { until } from '../../waiting/until.ts';

/** A store to be tested: named by module and export, because other processes open it too. */
export interface StoreSubject {
  readonly module: URL;
  /** Name of the exported StoreSource. */
  readonly export: string;
  /** Makes an empty git repository with a work tree; answers its path. Called once per case. */
  readonly repository: () => Promise<string> | string;
}

/** The task of a process of the store tester, passed as its one argument. */
export interface WriterOrder {
  readonly module: string;
  readonly export: string;
  readonly repository: string;
  readonly ref: string;
  /**
   * `hang`: stop in the middle of a write and report it in the file `said`. `add`: `count` writes of one file each.
   * `replace`: whole versions, without end.
   */
  readonly task: 'hang' | 'add' | 'replace';
  readonly name: string;
  readonly count: number;
  readonly said: string;
}

/** The environment of one case: a store over a private repository. */
interface StoreBench {
  readonly store: ObjectStore;
  /** Starts another process over the same repository. */
  readonly start: (order: Pick<WriterOrder, 'task' | 'name' | 'count'>) => Started;
}

/** Another process over the same store. */
interface Started {
  readonly process: StartedProcess;
  /** Waits until the process reports. */
  readonly said: () => Promise<void>;
}

/** What every store promises, each as a function that rejects where it does not hold. */
type StoreCases = Readonly<Record<string, (bench: StoreBench) => Promise<void>>>;

/** The ref that cases and their processes write. */
const ref = 'refs/ai/runs/one';
const text = (value: string): Buffer => Buffer.from(value);

/** Files that all hold the same word: two words in one version would be a torn one. */
export function* versionFiles(word: string, count: number): Generator<readonly [string, Uint8Array]> {
  for (let index = 0; index < count; index += 1) yield [`part/${index}`, Buffer.from(word)];
}

/** Asserts equal bytes. The message does not show them, because a diff of megabytes would exhaust memory. */
function sameBytes(found: Buffer | undefined, expected: Buffer, name?: string): void {
  const what = name === undefined ? '' : ` of \`${name}\``;
  assert.ok(
    found?.equals(expected),
    `expected ${expected.length} bytes${what}, found ${found === undefined ? 'nothing' : 'others'}`,
  );
}

/** A store of the subject over a fresh repository. */
async function openBench(subject: StoreSubject): Promise<StoreBench> {
  const directory = await subject.repository();
  const repository = await openRepository(directory);
  const loaded = (await import(subject.module.href)) as Readonly<Record<string, StoreSource | undefined>>;
  const source = loaded[subject.export];
  assert.ok(source, `\`${subject.module.href}\` exports no \`${subject.export}\``);
  const writer = fileURLToPath(new URL('./store-writer.ts', import.meta.url));
  let started = 0;
  return {
    store: source.open({ repository, clock: systemClock, actorId: 'tester' }),
    start(given) {
      started += 1;
      const said = join(repository.gitDir, `said-${started}`);
      const order: WriterOrder = {
        ...given,
        module: subject.module.href,
        export: subject.export,
        repository: directory,
        ref,
        said,
      };
      const child = startProcess([process.execPath, writer, JSON.stringify(order)], {
        cwd: directory,
        env: { PATH: process.env.PATH ?? '', GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
      });
      child.stdout.resume();
      let gone = false;
      child.exited.then(
        () => (gone = true),
        () => (gone = true),
      );
      return {
        process: child,
        said: () =>
          until(async () => {
            if (existsSync(said)) return true;
            if (!gone) return false;
            const { code, stderr } = await child.exited;
            return assert.fail(`the writing process ended with ${code}: ${stderr.toString('utf8')}`);
          }),
      };
    },
  };
}

/**
 * Runs a store through the promises of every store. Rejects with an AssertionError that names the case. It needs some
 * seconds.
 */
export async function storeTester(runner: CaseRunner | undefined, subject: StoreSubject): Promise<void> {
  const promises = Object.entries({ ...storeCases, ...storeProcessCases }).map(
    ([sentence, judge]) => [sentence, async () => judge(await openBench(subject))] as const,
  );
  await runCases(runner, 'store', subject.export, Object.fromEntries(promises));
}

/** What a store promises while other processes write to it, or are killed at it. */
const storeProcessCases: StoreCases = {
  'two processes that add at once lose nothing of each other': async ({ store, start }) => {
    const count = 5;
    const names = ['left', 'right'];
    const started = names.map((name) => start({ task: 'add', name, count }));
    for (const { process } of started) {
      const { code, stderr } = await process.exited;
      assert.equal(code, 0, stderr.toString('utf8'));
    }
    const expected = names.flatMap((name) => Array.from({ length: count }, (_, index) => `${name}/${index}`));
    assert.deepEqual(
      (await store.list(ref)).map(({ path }) => path),
      expected.sort(),
    );
  },
  'a process that is killed in the middle of a write leaves what was there, and the next write works':
    async ({ store, start }) => {
      const first = await store.writeTree(ref, {
        message: 'm',
        files: [['kept', text('1')]],
        keepExisting: true,
      });
      const { process, said } = start({ task: 'hang', name: 'half', count: 500 });
      await said();
      process.kill();
      await process.exited;
      assert.equal(await store.version(ref), first);
      assert.deepEqual(
        (await store.list(ref)).map(({ path }) => path),
        ['kept'],
      );
      await store.writeTree(ref, {
        message: 'm',
        files: [['next', text('2')]],
        keepExisting: true,
        expectedOld: first,
      });
      assert.equal((await store.list(ref)).length, 2);
    },
  'whenever a writer is killed, the version that is current is a whole one': async ({ store, start }) => {
    const count = 20;
    for (const waitMs of [0, 11, 37]) {
      const { process, said } = start({ task: 'replace', name: `kill-${waitMs}`, count });
      await said();
      await instant(waitMs);
      process.kill();
      await process.exited;
      const listed = await store.list(ref);
      const read = await store.readMany(
        ref,
        listed.map(({ path }) => path),
      );
      assert.equal(read.size, count);
      assert.equal(new Set([...read.values()].map(String)).size, 1, 'one version');
      const after = versionFiles(`after-${waitMs}`, count);
      await store.writeTree(ref, { message: 'm', files: after, keepExisting: false });
      sameBytes(await store.read(ref, 'part/0'), text(`after-${waitMs}`));
    }
  },
};

const conflicts = { code: 'EVIDENCE_WRITE_FAILED' };

/** What a store promises to one process. */
const storeCases: StoreCases = {
  'what was written is read back, byte for byte': async ({ store }) => {
    const files: [string, Buffer][] = [
      ['a/b.json', text('{}\n')],
      ['a.b', text('dot')],
      ['empty', text('')],
      ['odd "name"\\ with blank/ü', Buffer.from([0, 10, 255, 13])],
      ['big', Buffer.alloc(3_000_000, 'x')],
    ];
    const version = await store.writeTree(ref, { message: 'one\nline', files, keepExisting: true });
    assert.equal(await store.version(ref), version);
    for (const [path, bytes] of files) sameBytes(await store.read(ref, path), bytes, path);
    const many = await store.readMany(ref, ['empty', 'none', 'a', 'a.b']);
    assert.deepEqual([...many.keys()].sort(), ['a.b', 'empty']);
    const listed = await store.list(ref);
    const paths = files.map(([path]) => path).sort((a, b) => Buffer.compare(text(a), text(b)));
    assert.deepEqual(
      listed.map(({ path }) => path),
      paths,
    );
    for (const { path, sizeBytes, object } of listed) {
      assert.equal(sizeBytes, files.find(([name]) => name === path)?.[1].length, path);
      assert.notEqual(object, '');
    }
  },
  'a ref that does not exist holds nothing, and a name that is none is refused': async ({ store }) => {
    assert.equal(await store.version(ref), undefined);
    assert.equal(await store.read(ref, 'a'), undefined);
    assert.equal((await store.readMany(ref, ['a'])).size, 0);
    assert.deepEqual(await store.list(ref), []);
    assert.deepEqual(await store.refs('refs/ai/runs/'), []);
    await store.remove(ref);
    for (const name of ['refs/a b', 'refs/../x', 'heads', 'refs/a/.b', 'refs/a~']) {
      const write = store.writeTree(name, { message: 'm', files: [['a', text('1')]], keepExisting: true });
      await assert.rejects(write, { code: 'REF_INVALID' }, name);
      await assert.rejects(store.read(name, 'a'), { code: 'REF_INVALID' }, name);
    }
  },
  'existing files stay or go as the write says; a file and a directory of one name replace each other':
    async ({ store }) => {
      const put = (files: [string, Buffer][], keepExisting: boolean) =>
        store.writeTree(ref, { message: 'm', files, keepExisting });
      const paths = async () => (await store.list(ref)).map(({ path }) => path);
      await put(
        [
          ['a', text('1')],
          ['b/c', text('1')],
        ],
        true,
      );
      await put([['a', text('2')]], true);
      assert.deepEqual(await paths(), ['a', 'b/c']);
      sameBytes(await store.read(ref, 'a'), text('2'));
      await put(
        [
          ['a/x', text('3')],
          ['b', text('3')],
        ],
        true,
      );
      assert.deepEqual(await paths(), ['a/x', 'b']);
      await put([['only', text('4')]], false);
      assert.deepEqual(await paths(), ['only']);
      await put([], false);
      assert.deepEqual(await paths(), []);
    },
  'a write that expected another version changes nothing': async ({ store }) => {
    const put = (value: string, expectedOld: string | null) =>
      store.writeTree(ref, { message: 'm', files: [['a', text(value)]], keepExisting: true, expectedOld });
    const first = await put('1', null);
    const second = await put('2', first);
    for (const expected of [null, first, 'f'.repeat(first.length)])
      await assert.rejects(put('3', expected), conflicts);
    assert.equal(await store.version(ref), second);
    sameBytes(await store.read(ref, 'a'), text('2'));
  },
  'the same write at the same time is the same version, and is answered where it is current': async ({
    store,
  }) => {
    const put = (name: string, value: string, expectedOld: string | null) =>
      store.writeTree(name, {
        message: 'm',
        files: [['a', text(value)]],
        keepExisting: true,
        expectedOld,
        atMs: 1_700_000_000_000,
      });
    const first = await put(ref, '1', null);
    assert.equal(await put(ref, '1', null), first);
    assert.equal(await put('refs/ai/runs/two', '1', null), first);
    const second = await put(ref, '2', first);
    await assert.rejects(put(ref, '3', first), conflicts);
    await assert.rejects(put(ref, '1', null), conflicts);
    assert.equal(await store.version(ref), second);
  },
  'refs are listed by whole components, sorted, beside each other and below each other': async ({
    store,
  }) => {
    const names = [
      'refs/ai/runs/b',
      'refs/ai/runs/a%2Fb',
      'refs/ai/runsx/c',
      'refs/ai/runs/deep/d',
      'refs/x-team/runs/e',
    ];
    const versions = new Map<string, string>();
    for (const name of names)
      versions.set(
        name,
        await store.writeTree(name, { message: name, files: [['a', text(name)]], keepExisting: true }),
      );
    for (const prefix of ['refs/ai/runs/', 'refs/ai/runs', 'refs/ai/', 'refs/none/']) {
      const expected = names.filter((name) => name.startsWith(`${prefix.replace(/\/$/, '')}/`)).sort();
      assert.deepEqual(
        await store.refs(prefix),
        expected.map((name) => ({ ref: name, version: versions.get(name) })),
        prefix,
      );
    }
  },
  'a ref that was removed is gone, the others stay, and its name is free': async ({ store }) => {
    const other = 'refs/ai/runs/other';
    for (const name of [ref, other])
      await store.writeTree(name, {
        message: 'm',
        files: [
          ['shared', text('x')],
          ['own', text(name)],
        ],
        keepExisting: true,
      });
    await store.remove(ref);
    await store.remove(ref);
    assert.equal(await store.read(ref, 'own'), undefined);
    sameBytes(await store.read(other, 'own'), text(other));
    sameBytes(await store.read(other, 'shared'), text('x'));
    await store.writeTree(ref, {
      message: 'm',
      files: [['again', text('1')]],
      keepExisting: true,
      expectedOld: null,
    });
    assert.deepEqual(
      (await store.list(ref)).map(({ path }) => path),
      ['again'],
    );
  },
  'a path that leaves its tree, and a source that fails, store nothing': async ({ store }) => {
    const first = await store.writeTree(ref, {
      message: 'm',
      files: [['kept', text('1')]],
      keepExisting: true,
    });
    const hostile = ['../x', '/x', 'a/../b', 'a//b', './a', 'a/', '', '.git/config', 'a/.GIT/x', 'a\0b'];
    for (const path of hostile) {
      const files: [string, Buffer][] = [
        ['fine', text('1')],
        [path, text('2')],
      ];
      await assert.rejects(
        store.writeTree(ref, { message: 'm', files, keepExisting: true }),
        conflicts,
        path,
      );
    }
    async function* failing(): AsyncGenerator<readonly [string, Uint8Array]> {
      yield ['half', text('half')];
      throw new Error('the source broke');
    }
    await assert.rejects(
      store.writeTree(ref, { message: 'm', files: failing(), keepExisting: true }),
      conflicts,
    );
    assert.equal(await store.version(ref), first);
    assert.deepEqual(
      (await store.list(ref)).map(({ path }) => path),
      ['kept'],
    );
    for (const path of hostile) assert.equal(await store.read(ref, path), undefined, path);
  },
  'ten thousand files go in and come out': async ({ store }) => {
    const count = 10_000;
    function* files(): Generator<readonly [string, Uint8Array]> {
      for (let index = 0; index < count; index += 1)
        yield [`evidence/${index}.json`, text(`{"index":${index}}`)];
    }
    await store.writeTree(ref, { message: 'm', files: files(), keepExisting: true });
    const listed = await store.list(ref);
    assert.equal(listed.length, count);
    const read = await store.readMany(
      ref,
      listed.map(({ path }) => path),
    );
    assert.equal(read.size, count);
    for (const index of [0, 999, count - 1])
      sameBytes(read.get(`evidence/${index}.json`), text(`{"index":${index}}`));
  },
};
