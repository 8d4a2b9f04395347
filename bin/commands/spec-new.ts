import { existsSync } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock, toRfc3339 } from '../../core/base/clock.ts';
import { WritError } from '../../core/base/errors.ts';
import { readPlain } from '../../core/base/files.ts';
import { uuidV7 } from '../../core/base/ids.ts';
import type { ChangeType, IntentSpec, RiskLevel } from '../../core/interfaces/intentspec.gen.ts';
import { draftFromProfile } from '../../spec/profile.ts';
import {
  type ProposedCheck,
  type PythonTests,
  projectFiles,
  proposeCheck,
  pythonTestName,
} from '../../spec/propose-check.ts';
import { readIntentSpec } from '../../spec/read-intent-spec.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { draftTarget } from '../command-parts/drafted-run.ts';
import { writeOutput } from '../command-parts/write-output.ts';

/** `writ spec new`: a valid draft, to a new file or to stdout (`path` is then `-`). */
export async function run(context: CommandContext): Promise<CommandResult> {
  const { options } = context;
  const summary = options.value('summary');
  const changeType = options.value('change-type');
  const output = options.value('output') ?? '-';
  const now = systemClock.now();
  const { root, ...target } = await draftTarget(context);
  const test = await readProposedCheck(root);
  const draft = draftFromProfile({
    // The parser checks both choices; the draft is validated again below.
    risk: (options.value('risk') ?? 'medium') as RiskLevel,
    ...(changeType === undefined ? {} : { changeType: changeType as ChangeType }),
    ...(summary === undefined ? {} : { summary }),
    id: uuidV7(now),
    createdAt: toRfc3339(now),
    ...target,
    ...(test === undefined ? {} : { test }),
  });
  const text = `${JSON.stringify(draft, null, 2)}\n`;
  const judged = readIntentSpec(Buffer.from(text));
  if (!judged.ok) throw unusable(judged.issues);
  const path = output === '-' ? '-' : writeOutput(context.cwd, output, text);
  if (test === undefined)
    context.print.note(
      'nothing found at the root that says how tests run: the check `node --test` is a placeholder',
    );
  const data = { path, digest: judged.digest, spec: draft };
  return succeeded(data, (printer) => {
    if (path === '-') printer.raw(text);
    else if (!printer.quiet) {
      printer.line(
        `wrote ${path}: a draft; fill in its words (\`writ spec validate\` lists them), then \`writ spec activate\` it`,
      );
      if (test !== undefined) printer.line(`  its check is \`${test.command}\`, from ${test.found}`);
      for (const need of needsOf(draft)) printer.line(`  a run of it needs ${need}`);
    }
  });
}

const maxFileBytes = 1024 * 1024;

/** Detects the test command of the project in this directory from its files; `undefined` if none is found. */
async function readProposedCheck(root: string): Promise<ProposedCheck | undefined> {
  const files = new Map<(typeof projectFiles)[number], string>();
  for (const name of projectFiles) {
    // Of a lockfile, which can be large, only its presence counts.
    const isLockfile = /[.-]lock\b/.test(name);
    const isThere = isLockfile && (await lstat(join(root, name)).catch(() => undefined))?.isFile() === true;
    const bytes = isLockfile ? undefined : readPlain(join(root, name), maxFileBytes).bytes;
    if (isThere || bytes !== undefined) files.set(name, bytes?.toString('utf8') ?? '');
  }
  return inEnvironment(root, proposeCheck(files, await pythonTests(root)));
}

/** The check with the Python of the project's virtual environment, if it has one: its packages are only there. */
function inEnvironment(root: string, check: ProposedCheck | undefined): ProposedCheck | undefined {
  const python = ['.venv/bin/python', 'venv/bin/python'].find((path) => existsSync(join(root, path)));
  if (python === undefined || check?.allowed?.startsWith('python3 ') !== true) return check;
  const own = (words: string): string => words.replace(/^python3/, python);
  return { ...check, command: own(check.command), allowed: own(check.allowed) };
}

const mostEntries = 1000;
const mostRead = 20;

/** The tests in a usual directory that holds files which pytest finds. */
async function pythonTests(root: string): Promise<PythonTests | undefined> {
  for (const directory of ['tests', 'tests/unit', 'test', '.']) {
    const entries = await opendir(join(root, directory)).catch(() => undefined);
    if (entries === undefined) continue;
    const names: string[] = [];
    let left = mostEntries;
    for await (const entry of entries) {
      if (entry.isFile() && pythonTestName.test(entry.name)) names.push(entry.name);
      left -= 1;
      if (left === 0) break;
    }
    if (names.length === 0) continue;
    const read = (path: string) => readPlain(join(root, path), maxFileBytes).bytes;
    const texts = names.slice(0, mostRead).map((name) => read(join(directory, name)));
    const parents =
      directory === '.' ? [] : directory.split('/').map((_, at, parts) => parts.slice(0, at + 1));
    const packages = parents.map((parts) => read(join(...parts, '__init__.py')));
    return {
      directory,
      areUnittests:
        names.every((name) => name.startsWith('test_')) &&
        texts.every((text) => text !== undefined && isUnittest(text.toString('utf8'))),
      isPackage: packages.every((text) => text !== undefined),
    };
  }
  return undefined;
}

function isUnittest(text: string): boolean {
  return /^\s*(?:import|from) unittest\b/m.test(text) && !/^\s*(?:import|from) pytest\b/m.test(text);
}

/** Returns what a draft requires that the repository does not provide. */
function needsOf({ acceptance, risk }: IntentSpec): readonly string[] {
  const { minApprovers } = risk.humanInLoop;
  const people = minApprovers === 1 ? '1 person who approves' : `${minApprovers} people who approve`;
  const analysed = acceptance.verificationPlan.securityChecks.some(({ command }) => command === 'sca');
  return [
    ...(analysed ? ['advisories: `writ sca import FILE`'] : []),
    ...(minApprovers > 0
      ? [`${people}: their keys in \`.writ/allowed_signers\` before it begins, then \`writ approve\``]
      : []),
    'rules of tools, where a model makes the change: `writ plan F --provider NAME` says which',
  ];
}

/** Only the words of the command line can make a draft invalid; anything else is our fault. */
function unusable(
  issues: readonly { readonly severity: string; readonly path: string; readonly message: string }[],
): WritError {
  const first = issues.find(({ severity }) => severity === 'error');
  if (first?.path === '/intent/summary') {
    return new WritError('USAGE', {
      message: `\`--summary\`: ${first.message}`,
      detail: { option: '--summary', command: 'spec new' },
    });
  }
  return new WritError('INTERNAL', { message: 'the draft is not valid', detail: { issues } });
}
