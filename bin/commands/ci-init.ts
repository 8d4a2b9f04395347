/* The `writ ci init` command: writes the files that a CI system needs to run writ on each change. */
import { lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownFile } from '../../api/build.ts';
import { readProposedCheck } from '../../api/intent/read-project.ts';
import { parseAllowedSigners } from '../../attest/approval/allowed-signers.ts';
import { principalForm } from '../../attest/approval/approval-statement.ts';
import { findApproverKey } from '../../attest/approval/sign-approval.ts';
import { approvalNamespace } from '../../attest/approval/sshsig.ts';
import { WritError } from '../../core/base/errors.ts';
import { readPlain } from '../../core/base/files.ts';
import { isRecord } from '../../core/base/json-pointer.ts';
import { printable } from '../../core/base/printable.ts';
import { readIdentity } from '../../workspace/git/commit-log.ts';
import { tryGit } from '../../workspace/git/git.ts';
import { namesIn } from '../../workspace/git/hash-tree.ts';
import { openRepository, type Repository } from '../../workspace/git/repository.ts';
import { readHead } from '../../workspace/git/resolve-commit.ts';
import { shortBranch } from '../../workspace/git/target.ts';
import { inShellQuotes } from '../../workspace/shell/quote.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { configText } from './init.ts';

const systems = ['github', 'gitlab', 'shell'] as const;
type System = (typeof systems)[number];

/** A file to write, with its path from the root of the repository. */
interface NewFile {
  readonly path: string;
  readonly content: string | Uint8Array;
  /** The team's own: it stays as it is, also with `--force`. */
  readonly isOwn?: true;
  readonly about?: string;
}

interface Setup {
  readonly repository: Repository;
  readonly system: System;
  /** Branch that receives changes. */
  readonly branch: string;
  readonly isSealing: boolean;
  /** Commands of `--check`; empty: each run detects the project's own. */
  readonly checks: readonly string[];
  /** The commands that install what the tests need. */
  readonly installs: readonly string[];
}

/** `writ ci init [SYSTEM]`: writes what is missing and prints what is left to do by hand. */
export async function ciInitCommand(context: CommandContext): Promise<CommandResult> {
  const { options } = context;
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const checks = options.values('check');
  const strange = checks.find((check) => /[\p{Cc}]|\$\{\{/u.test(check));
  if (strange !== undefined)
    throw new WritError('USAGE', {
      message: `\`--check\`: \`${printable(strange)}\` is not one line, or has an expression of GitHub`,
      hints: ['put the commands into a script of the repository, and name that'],
    });
  const proposed = checks.length > 0 ? undefined : await readProposedCheck(repository.root);
  if (checks.length === 0 && proposed === undefined)
    throw new WritError('USAGE', {
      message: 'writ found no test command: no file at the root of the project says how its tests run',
      detail: { command: 'ci init', expected: ['--check'], found: null },
      hints: ['name the command that checks a change: `writ ci init --check "make test"`'],
    });
  const setup: Setup = {
    repository,
    system: await systemGiven(context, repository),
    branch: await receivingBranch(repository),
    isSealing: options.flag('seal'),
    checks,
    installs: installsOf(repository.root),
  };
  const program = await programGiven(context, setup);
  const files = [...programFiles(setup, program), ...(await policyFiles(context, repository))];
  const written = files.map(({ path, isOwn }) => {
    const isKept = isThere(repository.root, path) && (isOwn === true || !options.flag('force'));
    return { path, status: isKept ? ('kept' as const) : ('written' as const) };
  });
  if (!options.flag('dry-run'))
    for (const [at, file] of files.entries())
      if (written[at]?.status === 'written') write(repository.root, file);
  const next = nextSteps(setup, context, written);
  const data = {
    system: setup.system,
    branch: setup.branch,
    files: written,
    checks: proposed === undefined ? checks : [proposed.command],
    installs: setup.installs,
    package: program.action ?? program.package ?? null,
    next,
    dry_run: options.flag('dry-run'),
  };
  return succeeded(data, (printer) => {
    const word = options.flag('dry-run') ? 'would write' : 'wrote';
    printer.table(
      files.map(({ path, about }, at) =>
        written[at]?.status === 'kept' ? ['kept', path, 'it exists'] : [word, path, about ?? ''],
      ),
    );
    const found = proposed === undefined ? '' : `  (from ${proposed.found}, at the base of each change)`;
    printer.line(`  tests         ${data.checks.join('; ')}${found}`);
    printer.line(`  dependencies  ${setup.installs.join('; ') || 'none found that need a step'}`);
    printer.line('next:');
    for (const [at, step] of next.entries()) printer.line(`  ${at + 1}. ${step}`);
  });
}

/** The argument; else what the repository itself names. USAGE. */
async function systemGiven({ args }: CommandContext, repository: Repository): Promise<System> {
  const [given] = args;
  const has = (path: string) => readPlain(join(repository.root, path), 0).status !== undefined;
  const url = (await tryGit(repository, ['remote', 'get-url', 'origin'])) ?? '';
  const guessed =
    has('.github') || url.includes('github.')
      ? 'github'
      : has('.gitlab-ci.yml') || url.includes('gitlab')
        ? 'gitlab'
        : undefined;
  const system = systems.find((one) => one === (given ?? guessed));
  if (system !== undefined) return system;
  throw new WritError('USAGE', {
    message:
      given === undefined
        ? 'neither the remote `origin` nor a file says which CI system this repository uses'
        : `\`${printable(given)}\` is no CI system that writ knows`,
    detail: { command: 'ci init', expected: [...systems], found: given ?? null },
    hints: ['name it: `writ ci init github`, `gitlab`, or `shell` for any other'],
  });
}

async function receivingBranch(repository: Repository): Promise<string> {
  const head = await tryGit(repository, ['symbolic-ref', '--short', 'refs/remotes/origin/HEAD']);
  const { branch } = await readHead(repository);
  return head?.trim().replace(/^origin\//, '') ?? (branch === undefined ? 'main' : shortBranch(branch));
}

/** Where CI gets writ from: an action elsewhere, or what npm installs. */
interface Program {
  readonly action?: string;
  /** As npm reads it: a URL, `name@version`, or `./path` from the root of the repository. */
  readonly package?: string;
  /** A packed file that is copied into the repository. */
  readonly copied?: NewFile;
}

const actionForm = /^[\w.-]+\/[\w.-]+(?:\/[\w./-]+)?@[0-9a-f]{40}$/;
/** Needs no quoting in YAML between double quotes, or in a shell between them. */
const packageForm = /^[\w.@~:/+#%=?&^][\w.@~:/+#%=?&^-]*$/;
const maxPackageBytes = 64 * 1024 * 1024;
const maxFileBytes = 1024 * 1024;

/** `--action`, `--package`, else what npm recorded when it installed this program. USAGE. */
async function programGiven({ options, cwd }: CommandContext, setup: Setup): Promise<Program> {
  const action = options.value('action');
  const given = options.value('package');
  if (action !== undefined) {
    if (setup.system !== 'github' || given !== undefined || !actionForm.test(action))
      throw programFault(
        '`--action` needs `github`, no `--package`, and the form `OWNER/REPO@` with a whole commit id',
      );
    return { action };
  }
  const wanted = given ?? installedFrom() ?? copiedBefore(setup);
  if (wanted === undefined)
    throw programFault(
      'npm has not recorded where this program came from, so `--package` has to say what CI installs',
    );
  const path = given === undefined ? wanted : resolve(cwd, wanted);
  const { bytes, status, fault } = readPlain(path, maxPackageBytes);
  if (status?.isFile() === true && bytes === undefined)
    throw programFault(`\`${printable(wanted)}\`: ${fault?.message ?? 'it cannot be read'}`);
  if (bytes === undefined) {
    if (!packageForm.test(wanted) || /^[./~]/.test(wanted))
      throw programFault(`\`${printable(wanted)}\` is no file, and nothing that npm could install`);
    return { package: wanted };
  }
  const below = relative(setup.repository.root, path).split(sep).join('/');
  const isInside = !below.startsWith('../') && resolve(below) !== below;
  const place =
    isInside && !below.startsWith('node_modules/') ? below : `${folderOf(setup.system)}/${basename(path)}`;
  if (!packageForm.test(place))
    throw programFault(`\`${printable(place)}\` has characters that a script would not keep`);
  const size = `writ itself, ${(bytes.length / 1024 / 1024).toFixed(1)} MiB`;
  return {
    package: `./${place}`,
    ...(place === below ? {} : { copied: { path: place, content: bytes, about: size } }),
  };
}

function programFault(message: string): WritError {
  return new WritError('USAGE', {
    message,
    detail: { command: 'ci init', expected: ['--package'], found: null },
    hints: [
      'name a packed file, which is copied into the repository: `--package writ-0.1.0.tgz`; or a URL, or NAME@VERSION',
      'on GitHub, or the repository of writ, if your jobs may read it: `--action OWNER/writ@COMMIT`',
    ],
  });
}

/** The packed file that an earlier `ci init` copied. */
function copiedBefore({ repository, system }: Setup): string | undefined {
  const folder = join(repository.root, folderOf(system));
  const [file, ...others] = namesIn(folder).filter((name) => name.endsWith('.tgz'));
  return file === undefined || others.length > 0 ? undefined : join(folder, file);
}

/** What npm wrote down beside the directory that holds this program: a URL, or an absolute path. */
function installedFrom(): string | undefined {
  const own = fileURLToPath(ownFile('package.json'));
  const modules = resolve(own, '../..');
  const { bytes } = readPlain(join(modules, '.package-lock.json'), maxPackageBytes);
  if (bytes === undefined) return undefined;
  let lock: unknown;
  try {
    lock = JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
  const { packages } = Object(lock) as { readonly packages?: Record<string, unknown> };
  const entry = packages?.[`node_modules/${basename(resolve(own, '..'))}`];
  if (!isRecord(entry) || typeof entry.resolved !== 'string') return undefined;
  const [, file] = /^file:(.*)$/.exec(entry.resolved) ?? [];
  return file === undefined ? entry.resolved : resolve(modules, '..', file);
}

const actionFolder = '.github/actions/writ';

function folderOf(system: System): string {
  return system === 'github' ? actionFolder : 'ci';
}

/** The files of the system, made of those that this package ships. */
function programFiles(setup: Setup, program: Program): readonly NewFile[] {
  const { system } = setup;
  const copied = program.copied === undefined ? [] : [program.copied];
  if (system === 'github') return [...workflows(setup, program), ...copied];
  const script: NewFile = {
    path: 'ci/ci.sh',
    content: shipped('ci/ci.sh').replace(
      /^ {2}: "\$\{WRIT_PACKAGE:\?.*$/m,
      `  : "\${WRIT_PACKAGE:=${program.package}}"`,
    ),
    about: 'installs writ and runs it',
  };
  return system === 'gitlab' ? [...gitlabFiles(setup), script, ...copied] : [script, ...copied];
}

const placeholder = 'OWNER/writ@COMMIT';

function workflows(setup: Setup, { action, package: installed }: Program): readonly NewFile[] {
  const { isSealing, checks } = setup;
  const uses = action ?? `./${actionFolder}`;
  const workflow = (name: string, about: string): NewFile => {
    const text = withInstalls(shipped(`ci/github/${name}`), setup)
      .replace(/^# Copy to .*\n/, '')
      .replaceAll(placeholder, uses);
    const inputs = [
      ...(isSealing ? ['seal: true'] : []),
      ...(checks.length === 0 ? [] : ['check: |', ...checks.map((check) => `  ${check}`)]),
    ];
    const content = text.replace(/^( +)(seal: (?:true|false).*)$/m, (_, indent: string, given: string) =>
      (isSealing ? inputs : [given, ...inputs]).map((line) => indent + line).join('\n'),
    );
    return { path: `.github/workflows/${name}`, content, about };
  };
  const copy: NewFile = {
    path: `${actionFolder}/action.yml`,
    content: shipped('action.yml').replace(
      /(\n {2}package:\n.*\n {4}default: )''/,
      (_, before: string) => `${before}"${installed}"`,
    ),
    about: 'the action of writ',
  };
  return [
    workflow('writ.yml', 'evaluates each pull request'),
    workflow('writ-comment.yml', 'comments on those of forks'),
    ...(isSealing ? [workflow('writ-resume.yml', 'seals and lands what was approved')] : []),
    ...(action === undefined ? [copy] : []),
  ];
}

function gitlabFiles(setup: Setup): readonly NewFile[] {
  const { isSealing, checks } = setup;
  const quoted = checks.map((check) => ` --check ${inShellQuotes(check)}`).join('');
  const line = `sh ci/ci.sh${isSealing ? ' --seal' : ''}${quoted}`;
  const jobs = withInstalls(shipped('ci/gitlab.yml'), setup)
    .replace(/^# Copy into .*\n/, '')
    .replace(/^ {4}- sh ci\/ci\.sh$/m, () => `    - ${JSON.stringify(line)}`);
  return [
    { path: gitlabJobs, content: jobs, about: 'evaluates each merge request' },
    {
      path: '.gitlab-ci.yml',
      content: `include:\n  - local: ${gitlabJobs}\n`,
      isOwn: true,
      about: 'includes it',
    },
  ];
}

const gitlabJobs = 'ci/writ.gitlab-ci.yml';

/** The line that names what has to be installed, replaced by the steps that do it. */
function withInstalls(text: string, { system, installs }: Setup): string {
  const step = system === 'github' ? '- run: ' : '- ';
  const lines = (indent: string) => installs.map((command) => `${indent}${step}${command}\n`).join('');
  return text.replace(
    /^( +)# Install what your tests need here.*\n(?: +# - .*\n)?/m,
    (found, indent: string) => (installs.length === 0 ? found : lines(indent)),
  );
}

function shipped(path: string): string {
  const { bytes } = readPlain(fileURLToPath(ownFile(path)), maxFileBytes);
  if (bytes === undefined) throw new Error(`${path} of writ is missing`);
  return bytes.toString();
}

/** By lockfile: what installs it without running code of packages. The first file of each language decides. */
const ofLanguage: readonly (readonly (readonly [file: string, command: string])[])[] = [
  [
    ['package-lock.json', 'npm ci --ignore-scripts'],
    ['npm-shrinkwrap.json', 'npm ci --ignore-scripts'],
    [
      'pnpm-lock.yaml',
      'npm install --global pnpm@VERSION && pnpm install --frozen-lockfile --ignore-scripts',
    ],
    [
      '.yarnrc.yml',
      'npm install --global @yarnpkg/cli-dist@VERSION && yarn install --immutable --mode=skip-build',
    ],
    ['yarn.lock', 'npm install --global yarn@1 && yarn install --frozen-lockfile --ignore-scripts'],
    ['bun.lock', 'npm install --global bun@VERSION && bun install --frozen-lockfile --ignore-scripts'],
  ],
  [
    ['uv.lock', 'pipx install uv && uv sync --frozen --no-managed-python'],
    ['poetry.lock', 'pipx install poetry && POETRY_VIRTUALENVS_IN_PROJECT=1 poetry install'],
    ['requirements-dev.txt', 'python3 -m venv .venv && .venv/bin/pip install -r requirements-dev.txt'],
    ['requirements.txt', 'python3 -m venv .venv && .venv/bin/pip install -r requirements.txt pytest'],
  ],
];

function installsOf(root: string): readonly string[] {
  const read = (name: string) => readPlain(join(root, name), maxFileBytes);
  const text = read('package.json').bytes?.toString() ?? '';
  const [, version = 'latest'] = /"packageManager"\s*:\s*"[a-z]+@(\d+\.\d+\.\d+)/.exec(text) ?? [];
  return ofLanguage.flatMap((known) => {
    const [, command] = known.find(([name]) => read(name).status !== undefined) ?? [];
    return command === undefined ? [] : [command.replace('VERSION', version)];
  });
}

const configPath = '.writ/config.toml';

function configOf(root: string): string {
  return readPlain(join(root, configPath), maxFileBytes).bytes?.toString() ?? '';
}

/** Nothing is sealed while the policy only advises. */
function isAdvising({ flag }: CommandContext['options']): boolean {
  return !flag('enforce') && !flag('seal');
}

/** Files below `.writ/`: the policy of the branch that receives changes. */
async function policyFiles(
  { options, env, cwd }: CommandContext,
  repository: Repository,
): Promise<readonly NewFile[]> {
  const advises = isAdvising(options);
  const mode = '\n[policy]\nmode = "advise" # reports, and blocks nothing; remove it to enforce\n';
  const before = configOf(repository.root);
  const config: NewFile =
    !advises && before.includes(mode)
      ? { path: configPath, content: before.replace(mode, ''), about: 'no longer mode "advise"' }
      : {
          path: configPath,
          content: `${configText(repository.root)}${advises ? mode : ''}`,
          isOwn: true,
          about: advises ? 'mode "advise": blocks nothing' : 'refusals block a change',
        };
  const people = new Map<string, string>();
  for (const given of options.values('approver')) {
    const [, named, file] = /^([^=]+)=(.+)$/.exec(given) ?? [];
    const path = file ?? (given === '' ? undefined : given);
    const key = await findApproverKey(path === undefined ? undefined : resolve(cwd, path), repository, env);
    const name = named ?? (await readIdentity(repository))?.email ?? '';
    people.set(name, signerLine(name, 'file' in key ? publicKeyIn(key.file) : key.publicKey));
  }
  if (people.size === 0) return [config];
  return [
    config,
    {
      path: '.writ/allowed_signers',
      content: [...people.values()].join(''),
      isOwn: true,
      about: 'who may approve',
    },
    {
      path: '.writ/owners',
      content: `# One of these people has to approve each change; no one approves a change of their own.\n* ${[...people.keys()].join(' ')}\n`,
      isOwn: true,
      about:
        people.size > 1
          ? 'each change waits for one of them'
          : 'each change waits for this person; add another one, because no one approves their own',
    },
  ];
}

function publicKeyIn(path: string): string {
  const read = (name: string) =>
    readPlain(name, 64 * 1024)
      .bytes?.toString()
      .trim();
  const text = path.endsWith('.pub') ? read(path) : (read(`${path}.pub`) ?? read(path));
  return text?.split(/\s+/, 2).join(' ') ?? '';
}

/** One line of `.writ/allowed_signers`. USAGE where it would make no one a signer. */
function signerLine(name: string, key: string): string {
  const line = `${name} namespaces="${approvalNamespace}" ${key}\n`;
  const { signers, skipped } = parseAllowedSigners(Buffer.from(line));
  if (signers.length === 1 && principalForm.test(name) && !/\s/.test(name)) return line;
  throw new WritError('USAGE', {
    message: `\`--approver\`: this makes no one an approver: ${skipped[0]?.reason ?? `\`${printable(name)}\` is no mail address`}`,
    detail: { command: 'ci init', expected: ['--approver'], found: null },
    hints: [
      'name the person and the public SSH key: `--approver ana@example.org=ana.pub`; alone it is your own',
    ],
  });
}

/** Whether a file is there. OUTPUT_EXISTS where a link or anything else is in its way: it may lead elsewhere. */
function isThere(root: string, path: string): boolean {
  let place = root;
  const parts = path.split('/');
  for (const [at, part] of parts.entries()) {
    place = join(place, part);
    const found = lstatSync(place, { throwIfNoEntry: false });
    if (found === undefined) return false;
    if (at + 1 < parts.length ? found.isDirectory() : found.isFile()) continue;
    throw new WritError('OUTPUT_EXISTS', {
      message: `\`${path}\` cannot be written: \`${parts.slice(0, at + 1).join('/')}\` is a link or of another kind`,
    });
  }
  return true;
}

function write(root: string, { path, content }: NewFile): void {
  const target = join(root, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, content, { mode: path.endsWith('.sh') ? 0o755 : 0o644 });
}

/** What no file can do, in the order in which it has to be done. */
function nextSteps(
  { repository, system, branch, isSealing, checks }: Setup,
  { options }: CommandContext,
  files: readonly { readonly path: string; readonly status: string }[],
): readonly string[] {
  const isKept = (path: string) => files.some((file) => file.path === path && file.status === 'kept');
  const ours = files.filter(({ status }) => status === 'written').map(({ path }) => path);
  // Not into the working tree, where it could be committed.
  const key = '~/writ-signing.pem';
  const secret = `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ${key}`;
  const advisesStill =
    !isAdvising(options) &&
    isKept(configPath) &&
    /^[ \t]*mode[ \t]*=[ \t]*["']advise/m.test(configOf(repository.root));
  const quoted = checks.map((check) => ` --check ${inShellQuotes(check)}`).join('');
  const lines = [
    ...(advisesStill
      ? [
          `remove mode = "advise" from ${configPath} (or write it again: --force): it seals and blocks nothing`,
        ]
      : []),
    ...(files.some(({ path, status }) => status === 'kept' && /^(?:ci|\.github)\//.test(path))
      ? ['files that are kept stay as they were: look whether they run writ, or write them again (--force)']
      : []),
    ...(isKept('.gitlab-ci.yml') ? [`add to .gitlab-ci.yml: include: [{ local: ${gitlabJobs} }]`] : []),
    ...(ours.length === 0
      ? []
      : [
          `bring the files to \`${branch}\`: git add -f ${ours.join(' ')} && git commit -m "ci: writ" && git push`,
        ]),
    ...(isSealing
      ? [
          system === 'github'
            ? `give the jobs a signer: ${secret} && gh secret set WRIT_SIGNING_KEY < ${key}`
            : `give the jobs a signer: ${secret}; its text is the masked variable WRIT_SIGNING_KEY${system === 'gitlab' ? ', a project access token WRIT_TOKEN' : ''}`,
        ]
      : []),
    system === 'github'
      ? `open a pull request, then require the status \`writ\` for \`${branch}\` (settings of the repository, Branches)`
      : system === 'gitlab'
        ? `open a merge request to \`${branch}\`: the job \`writ\` evaluates it`
        : `let CI run, in a clone with the whole history: sh ci/ci.sh --onto ${branch}${isSealing ? ' --seal --land' : ''}${quoted}`,
    ...(isAdvising(options)
      ? [
          isKept(configPath)
            ? 'until its reports are what you expect: mode = "advise" in the table [policy] of .writ/config.toml'
            : 'once its reports are what you expect: remove mode = "advise" from .writ/config.toml',
        ]
      : []),
  ];
  return lines;
}
