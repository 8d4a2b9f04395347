import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemClock } from '../../../core/base/clock.ts';
import type { RecordedAnswer } from '../../../plugins/recorded-worker/plugin.ts';
import { importAdvisories } from '../../../plugins/supply-chain/advisories/import-advisories.ts';
import { advisoryDir } from '../../../plugins/supply-chain/advisories/open-advisory-database.ts';
import { checkTypes, withTypeScript } from '../../agent/language-servers/language-server.ts';
import type { ScriptedReply } from '../../agent/scripted-model.ts';
import { serveV2 } from '../../attest/public/log-servers.ts';
import { fixtures, type Json, makeSample, type Sample } from '../../engine/sample.ts';

/** Everything around a spec that a pair is tried in. Both specs of a pair have the same one. */
export interface Scene {
  /** Case of `fixtures/runs/` whose patch is the change; absent: the fix with a new test. */
  readonly change?: string;
  /** The patch itself, by lines. */
  readonly patch?: readonly string[];
  /** Files of the base commit, beside those of the sample. `null` removes one. */
  readonly files?: Readonly<Record<string, string | null>>;
  /** Files of the user's home; those below a `bin/` can be run. */
  readonly home?: Readonly<Record<string, string>>;
  /** git commands in the repository, after the files are committed. */
  readonly git?: readonly (readonly string[])[];
  /** File of `fixtures/advisories/` that the user has imported. */
  readonly advisories?: string;
  /** A run with this spec merged into the sample's comes first, in the same repository. */
  readonly before?: { readonly [key: string]: Json };
  /** Who makes the change that is planned. */
  readonly who?: 'patch' | 'worker';
  readonly sandbox?: string;
  /** What the recorded worker answers. */
  readonly answers?: readonly RecordedAnswer[];
  /** Uses of tools by a worker, which mends the sample afterwards. `text` of a write is its content. */
  readonly uses?: readonly { readonly [key: string]: Json }[];
  /** What a scripted model replies. */
  readonly script?: readonly ScriptedReply[];
  /** Pages that lead on, or results of a search, where the model looks something up. */
  readonly web?: 'pages' | 'results';
  /** Addresses of hosts by their names; port 80 of each leads to a server of this machine. */
  readonly hosts?: Readonly<Record<string, string>>;
  /** Variables by scope that the user keeps as secrets. */
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Who signs what the run waits with, before it goes on: names of `people`. */
  readonly approvals?: readonly string[];
  /** A plugin throws where a statement is filled. */
  readonly breaksStatement?: true;
  /** Checks, or Tasks, wait for each other, as many as may run at once. */
  readonly meets?: true;
  /** Days after the run at which garbage is collected. */
  readonly daysLater?: number;
  /** The change log of the intent is read after the run. */
  readonly history?: true;
  /** The repository's configuration names a public log, which this machine serves. */
  readonly publicLog?: true;
  /** A language server for JavaScript is on the PATH. */
  readonly languageServer?: true;
}

/** What is open beyond one run: engines, servers. */
const open: (() => unknown)[] = [];
export const closing = { teardown: (act: () => unknown): void => void open.push(act) };

/** Closes what scenes and drivers have opened; the file of tests calls it at its end. */
export async function closeScenes(): Promise<void> {
  for (const close of open.splice(0).reverse()) await close();
}

export const people = ['ann', 'ben', 'maintainer', 'coder'] as const;

export const addressOf = (person: string): string => `${person}@sample.example`;
export const keyOf = ({ home }: Pick<Sample, 'home'>, person: string): string => join(home, `${person}.key`);

/** The sample as a scene has it. Its base names the people of `approvals` as signers. */
export async function stage(scene: Scene): Promise<Sample> {
  const sample = makeSample();
  const files: Record<string, string | null> = { ...scene.files };
  if (scene.approvals) files['.writ/allowed_signers'] = signersOf(sample);
  if (scene.publicLog) {
    const log = await serveV2(closing);
    files['.writ/trust/root.json'] = log.trustedRoot;
    files['.writ/config.toml'] =
      `[log]\nurl = "${log.url}"\napi = "v2"\ntrusted_root = ".writ/trust/root.json"\n`;
  }
  if (scene.languageServer) {
    withTypeScript();
    checkTypes(sample);
    files['docs/types.md'] = 'JavaScript is checked.\n';
  }
  for (const [path, text] of Object.entries(files))
    if (text === null) sample.git('rm', '--quiet', path);
    else write(join(sample.root, path), text);
  if (Object.keys(files).length > 0) {
    sample.git('add', '--all', '--force');
    sample.git('commit', '--quiet', '-m', 'Prepared');
  }
  for (const args of scene.git ?? []) sample.git(...args);
  for (const [path, text] of Object.entries(scene.home ?? {}))
    write(join(sample.home, path), text, path.includes('/bin/') ? 0o755 : 0o644);
  if (scene.advisories !== undefined) {
    const path = join(fixtures, '../advisories', scene.advisories);
    const signal = new AbortController().signal;
    await importAdvisories({ root: advisoryDir(sample.env), path, clock: systemClock, signal });
  }
  return sample;
}

/** The patch of a scene. */
export function changeOf({ change = 'a-fix-with-a-new-test-is-committed', patch }: Scene): Buffer {
  if (patch !== undefined) return Buffer.from(`${patch.join('\n')}\n`);
  return readFileSync(join(fixtures, change, 'change.diff'));
}

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}

function signersOf(sample: Sample): string {
  return people
    .map((person) => {
      const key = keyOf(sample, person);
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', addressOf(person), '-f', key]);
      const [kind, own] = readFileSync(`${key}.pub`, 'utf8').split(' ');
      return `${addressOf(person)} ${kind} ${own}\n`;
    })
    .join('');
}
