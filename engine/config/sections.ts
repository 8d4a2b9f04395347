/* Reads the smaller tables of the configuration. */
import { serviceUrlFault } from '../../core/base/http-question.ts';
import type { RiskLevel } from '../../core/interfaces/intentspec.gen.ts';
import { type ClassWords, sensitiveClasses } from '../../core/interfaces/privacy.ts';
import type {
  ConfigSection,
  LogConfig,
  LogForm,
  SignerConfig,
  SignerForm,
  SignerSetting,
} from '../../core/interfaces/sealing.ts';
import type { StageName } from '../../core/interfaces/stage.ts';
import type { Slots } from '../../core/kernel/slot.ts';
import { resolved } from '../../spec/document-schema.ts';
import { riskLevels } from '../../spec/profile.ts';
import { budgetBounds, maxApprovalTtlSeconds } from './bounds.ts';
import { type ConfiguredCheck, readConfiguredCheck, readStage, refuseRepeatedIds } from './checks-section.ts';
import { type PlainValue, readSectionAlone, type TableReader } from './table-reader.ts';
import { repositoryPathFault } from './workspace-section.ts';

/** `[approval]`: how an answer to a question of a session is remembered. */
export interface ApprovalConfig {
  /** How long a granted approval is used again for the same command; 0: never. */
  readonly ttlSeconds: number;
}

/** Reads `[approval]`; `ttl_seconds` is the default of `--approval-ttl`. */
export function readApprovalSection(reader: TableReader): ApprovalConfig {
  const ttlSeconds = reader.integer('ttl_seconds', 300, 0, maxApprovalTtlSeconds);
  reader.end();
  return { ttlSeconds };
}

/**
 * `[artifacts.<name>]`: an artifact that every change needs in addition to those of its spec, and the plugin that
 * produces it.
 */
export interface RequiredArtifact {
  /** A producer of a listed plugin, by its name. */
  readonly plugin: string;
  /** The stage that fails without it. */
  readonly stage: StageName;
  /** Same values as `format` of an artifact in a spec. If empty, the format that the producer declares. */
  readonly format: string;
}

/** Artifact names that a spec may use. Only the engine and its checks produce artifacts with these names. */
const ofContracts = resolved({ $ref: '#/$defs/ArtifactName' }).enum ?? [];

const maxArtifacts = 32;
const maxFormat = 64;

/** Reads `[artifacts]`, by artifact name. */
export function readArtifactsSection(reader: TableReader): ReadonlyMap<string, RequiredArtifact> {
  const names = reader.keys();
  if (names.length > maxArtifacts) {
    reader.refuse(reader.path, `expected at most ${maxArtifacts} artifacts, found ${names.length}`);
    return new Map();
  }
  return new Map(
    names.map((name) => {
      const table = reader.table(name);
      if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 64)
        table.refuse(table.path, 'expected the name of an artifact in kebab-case, at most 64 letters');
      if (ofContracts.includes(name))
        table.refuse(table.path, 'the engine and its checks make what specs name; give it another name');
      const plugin = table.text('plugin', '');
      if (plugin === '') table.refuse(table.at('plugin'), 'expected the name of an artifact of a plugin');
      const format = table.text('format', '');
      if (format.length > maxFormat)
        table.refuse(table.at('format'), `expected at most ${maxFormat} characters`);
      const stage = readStage(table, 'release');
      table.end();
      return [name, { plugin, stage, format }];
    }),
  );
}

/** `[budget]`: what a session may cost. */
export interface BudgetConfig {
  /** Limit in USD over a whole thread. Absent: no limit. */
  readonly sessionUsd?: number;
}

/** Reads `[budget]`. */
export function readBudgetSection(reader: TableReader): BudgetConfig {
  const sessionUsd = reader.number('session_usd', undefined, budgetBounds.min, budgetBounds.max);
  reader.end();
  return sessionUsd === undefined ? {} : { sessionUsd };
}

/** `[evidence]`: plugins that evaluate sources in addition to the strategy of a spec. */
export interface EvidenceConfig {
  /** Evidence policies of listed plugins, by name, in the order in which writ calls them. */
  readonly plugins: readonly string[];
}

const maxEvidencePlugins = 8;

/** Reads `[evidence]`. */
export function readEvidenceSection(reader: TableReader): EvidenceConfig {
  const plugins = reader.texts('plugins', []);
  if (plugins.length > maxEvidencePlugins)
    reader.refuse(
      reader.at('plugins'),
      `expected at most ${maxEvidencePlugins} plugins, found ${plugins.length}`,
    );
  const twice = plugins.find((name, index) => plugins.indexOf(name) !== index);
  if (twice !== undefined) reader.refuse(reader.at('plugins'), `\`${twice}\` is there twice`);
  reader.end();
  return { plugins };
}

/** `[factors.<tag>]`, by tag. */
export type FactorsConfig = ReadonlyMap<string, readonly ConfiguredCheck[]>;

const maxFactors = 256;
const maxChecks = 64;
const maxTagLength = 256;

/** Reads `[factors]`, with the same bounds for each check as a check of a spec. */
export function readFactorsSection(reader: TableReader): FactorsConfig {
  const tags = reader.keys();
  if (tags.length > maxFactors) {
    reader.refuse(reader.path, `expected at most ${maxFactors} factors, found ${tags.length}`);
    return new Map();
  }
  return new Map(
    tags.map((tag) => {
      const table = reader.table(tag);
      if (tag.length === 0 || tag.length > maxTagLength) {
        table.refuse(table.path, `expected a tag of 1 to ${maxTagLength} characters`);
      }
      const checks = table.tables('checks', maxChecks).map((one) => readConfiguredCheck(one));
      if (checks.length === 0) table.refuse(table.at('checks'), 'expected at least one check');
      table.end();
      refuseRepeatedIds(table, 'checks', checks);
      return [tag, checks];
    }),
  );
}

/** `[goal]`: what one yes of a person lets a goal of a session use up. */
export interface GoalConfig {
  readonly maxTokens: number;
  readonly maxCostUsd: number;
  /** Of work: waiting for a person is none. */
  readonly maxSeconds: number;
}

/** Reads `[goal]`: `tokens`, `cost_usd`, `seconds`. */
export function readGoalSection(reader: TableReader): GoalConfig {
  const maxTokens = reader.integer('tokens', 2_000_000, 1, 1_000_000_000);
  const maxCostUsd = reader.number('cost_usd', 5, 0.001, 10_000);
  const maxSeconds = reader.integer('seconds', 3600, 1, 604_800);
  reader.end();
  return { maxTokens, maxCostUsd, maxSeconds };
}

/** `[landing]`: which branch must hold a sealed commit before the run counts as landed. */
export interface LandingConfig {
  /** Name of a git remote; absent: the upstream of the target branch, else the branch itself. */
  readonly remote?: string;
}

/** A remote is a part of a ref name: `refs/remotes/<remote>/main`. */
const remoteName = /^\w[\w./-]{0,254}$/;

/** Reads `[landing]`: `remote`. */
export function readLandingSection(reader: TableReader): LandingConfig {
  const remote = reader.has('remote') ? reader.text('remote', '') : undefined;
  if (remote !== undefined && remote !== '' && !isRemoteName(remote))
    reader.refuse(
      reader.at('remote'),
      `\`${remote}\` is no name of a remote; expected one that \`git remote\` lists`,
    );
  reader.end();
  return remote === undefined ? {} : { remote };
}

function isRemoteName(name: string): boolean {
  return remoteName.test(name) && !/\.\.|\/\/|\/\.|\.lock(?:\/|$)|[./]$/.test(name);
}

/** Reads only `[landing]` of a config file. Returns the defaults if the file does not exist or is not valid. */
export function landingOf(bytes: Uint8Array | undefined): LandingConfig {
  return readSectionAlone(bytes, 'landing', readLandingSection) ?? {};
}

/** `[commit]`: how the sealed commit is made. */
export interface CommitConfig {
  /** Whether git signs it; absent: as `commit.gpgsign` says. */
  readonly sign?: boolean;
  /** Hooks that run as checks of every change. */
  readonly hooks: readonly CommitHook[];
}

const hookNames = ['pre-commit', 'commit-msg'] as const;

/** A hook of `[commit] hooks`. */
export interface CommitHook {
  readonly name: (typeof hookNames)[number];
  /** A tracked file; absent where only the name is given and not looked up yet. */
  readonly path?: string;
  /** Program that runs the file, with its options: `sh -e`. */
  readonly runBy?: string;
}

/** Reads `[commit]`: `sign`, `hooks`. */
export function readCommitSection(reader: TableReader): CommitConfig {
  const sign = reader.has('sign') ? reader.flag('sign', false) : undefined;
  const hooks = reader.texts('hooks', []).flatMap((text): readonly CommitHook[] => {
    const name = hookNames.find((one) => text === one || text.endsWith(`/${one}`));
    const fault =
      name === undefined
        ? `expected \`pre-commit\`, \`commit-msg\` or a path that ends so, found \`${text}\`: only these can refuse a commit before it is made`
        : name === text
          ? undefined
          : repositoryPathFault(text);
    if (fault !== undefined) reader.refuse(reader.at('hooks'), fault);
    return name === undefined ? [] : [name === text ? { name } : { name, path: text }];
  });
  if (new Set(hooks.map(({ name }) => name)).size < hooks.length)
    reader.refuse(reader.at('hooks'), 'expected each hook once');
  reader.end();
  return { ...(sign === undefined ? {} : { sign }), hooks };
}

/** `[seal]`: what `writ seal` may propose. */
export interface SealConfig {
  /** The least risk of a spec that `writ seal` builds. */
  readonly leastRisk: RiskLevel;
}

/** Reads `[seal]`: `least_risk`. */
export function readSealSection(reader: TableReader): SealConfig {
  const leastRisk = readLeastRisk(reader);
  reader.end();
  return { leastRisk };
}

/** `[drafts]`: what a model may draft. */
export interface DraftsConfig {
  /** The least risk of a drafted change, security changes excepted; absent: by the kind of the change. */
  readonly leastRisk?: RiskLevel;
}

/** Reads `[drafts]`: `least_risk`. */
export function readDraftsSection(reader: TableReader): DraftsConfig {
  const drafts = reader.has('least_risk') ? { leastRisk: readLeastRisk(reader) } : {};
  reader.end();
  return drafts;
}

function readLeastRisk(reader: TableReader): RiskLevel {
  const given = reader.text('least_risk', 'low');
  const leastRisk = riskLevels.find((level) => level === given);
  if (leastRisk === undefined)
    reader.refuse(reader.at('least_risk'), `expected ${riskLevels.join(', ')}, found \`${given}\``);
  return leastRisk ?? 'low';
}

const maxEntries = 5000;

/**
 * `[licenses]`: licenses that no lockfile records, as decided by the repository's maintainers: `"pkg:cargo/serde" =
 * "MIT OR Apache-2.0"`. A purl with a version applies to that version only. The code that uses a value checks that it
 * is valid SPDX.
 */
export function readLicensesSection(reader: TableReader): Readonly<Record<string, string>> {
  const purls = reader.keys();
  if (purls.length > maxEntries) reader.refuse(reader.path, `expected at most ${maxEntries} entries`);
  const stated = purls.slice(0, maxEntries).map((purl): [string, string] => {
    if (!/^pkg:[a-z]+\/[^\s?#]+$/.test(purl))
      reader.refuse(reader.at(purl), 'expected a package URL such as `pkg:cargo/serde` or `pkg:npm/a@1.0.0`');
    return [purl, reader.text(purl, '')];
  });
  reader.end();
  return Object.fromEntries(stated);
}

/** The reader of `[log]` settings for each log, by the log's name. */
type LogForms = ReadonlyMap<string, LogForm>;

/** Reads `[log]` as the logs understand it. */
export function readLogSection(reader: TableReader, forms: LogForms): LogConfig {
  const section = sectionOf(reader);
  const read = [...forms].flatMap(([name, form]) =>
    form.readSection === undefined ? [] : [[name, form.readSection(section)] as const],
  );
  reader.end();
  return Object.fromEntries(read);
}

function sectionOf(reader: TableReader): ConfigSection {
  const refuse = (key: string, message: string): void => reader.refuse(reader.at(key), message);
  const text = (key: string): string | undefined => {
    const found = reader.has(key) ? reader.text(key, '') : '';
    // The reader has already refused a value that is not a string.
    return found === '' ? undefined : found;
  };
  return {
    has: (key) => reader.has(key),
    text,
    url: (key) => readServiceUrl(reader, key),
    path(key) {
      const path = text(key);
      if (path === undefined) return undefined;
      // A patch cannot change files below `.writ/`, so anchors are safe there.
      const fault = repositoryPathFault(path.replace(/^\.writ\/trust\//, ''));
      if (fault !== undefined) refuse(key, fault);
      return path;
    },
    refuse,
  };
}

/** The address of a service without a slash at its end; `undefined` where the key is absent or refused. */
function readServiceUrl(reader: TableReader, key: string): string | undefined {
  if (!reader.has(key)) return undefined;
  const text = reader.text(key, '');
  // The reader has already refused a value that is not a string.
  if (text === '') return undefined;
  const fault = serviceUrlFault(text);
  if (fault === undefined) return text.replace(/\/+$/, '');
  // The value is not repeated: it may hold a password.
  reader.refuse(reader.at(key), fault);
  return undefined;
}

/** One `[[plugins]]`: where somebody's plugin is, and the only content that it may have. */
export interface ListedPlugin {
  /**
   * `path`: a directory or `.tgz` in the tree of the policy commit. `package`: kept by the user (`writ plugin add`), by
   * its name.
   */
  readonly kind: 'path' | 'package';
  readonly place: string;
  /** SHA-256 of the plugin's files, lower-case hex (`docs/reference/plugins.md`). */
  readonly digest: string;
  /** What its manifest declares; held to that where it is opened. */
  readonly options?: Readonly<Record<string, PlainValue>>;
}

const maxPlugins = 32;
const packageName = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/;

/** Reads `[[plugins]]`. Each has either `path` or `package`, and always a digest: what is not pinned is not loaded. */
export function readPluginsSection(root: TableReader): readonly ListedPlugin[] {
  const listed = root.tables('plugins', maxPlugins).map((reader): ListedPlugin => {
    const isPackage = reader.has('package');
    if (isPackage === reader.has('path'))
      reader.refuse(reader.path, 'expected exactly one of `path` and `package`');
    const place = isPackage ? reader.text('package', '') : reader.text('path', '');
    const fault = isPackage ? packageFault(place) : repositoryPathFault(place);
    if (place !== '' && fault !== undefined) reader.refuse(reader.at(isPackage ? 'package' : 'path'), fault);
    const digest = reader.text('digest', '');
    if (!/^sha256:[0-9a-f]{64}$/.test(digest))
      reader.refuse(reader.at('digest'), 'expected `sha256:` and 64 lower-case hexadecimal digits');
    const options = reader.has('options') ? { options: reader.plain('options') } : {};
    reader.end();
    return {
      kind: isPackage ? 'package' : 'path',
      place,
      digest: digest.slice('sha256:'.length),
      ...options,
    };
  });
  const places = listed.map(({ kind, place }) => `${kind} ${place}`);
  const twice = listed.find(({ kind, place }, index) => places.indexOf(`${kind} ${place}`) !== index);
  if (twice !== undefined) root.refuse(root.at('plugins'), `\`${twice.place}\` is listed twice`);
  return listed;
}

function packageFault(name: string): string | undefined {
  return name.length <= 214 && packageName.test(name) ? undefined : 'expected the name of a package';
}

/** `[policy.<name>]`: the settings for one call of an external policy engine. */
export interface PolicyConfig {
  /** A name of the slot `policy`, e.g. `cedar`. */
  readonly engine: string;
  /** Paths in the tree of the policy commit: a change must not bring its own policy. */
  readonly files: readonly string[];
  /** Stage that evaluates the policy if the spec does not request it. */
  readonly stage: StageName;
}

const maxPolicies = 64;
const maxFiles = 64;

/** Reads `[policy] mode`: whether a change is sealed (`enforce`), or only evaluated (`advise`). */
export function readMode(reader: TableReader): 'enforce' | 'advise' {
  const mode = reader.text('mode', 'enforce');
  if (mode === 'enforce' || mode === 'advise') return mode;
  reader.refuse(reader.at('mode'), `expected \`enforce\` or \`advise\`, found \`${mode}\``);
  return 'enforce';
}

/**
 * Reads `[policy]`, by policy name. Refuses a policy without a file, because it could neither permit nor forbid
 * anything.
 */
export function readPolicySection(reader: TableReader): ReadonlyMap<string, PolicyConfig> {
  const names = reader.keys().filter((name) => name !== 'mode');
  if (names.length > maxPolicies) {
    reader.refuse(reader.path, `expected at most ${maxPolicies} policies, found ${names.length}`);
    return new Map();
  }
  return new Map(
    names.map((name) => {
      const table = reader.table(name);
      if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name))
        table.refuse(table.path, 'expected a policy name of letters, digits, `-` and `_`');
      const engine = table.text('engine', '');
      if (engine === '') table.refuse(table.at('engine'), 'expected the name of a policy engine');
      const files = table.texts('files', []);
      if (files.length === 0 || files.length > maxFiles)
        table.refuse(table.at('files'), `expected 1 to ${maxFiles} files`);
      for (const [index, path] of files.entries()) {
        // A patch cannot change files below `.writ/`, so a policy is safe there.
        const fault = repositoryPathFault(path.replace(/^\.writ\/policies\//, ''));
        if (fault !== undefined) table.refuse(`${table.at('files')}[${index}]`, fault);
      }
      const stage = readStage(table, 'release');
      table.end();
      return [name, { engine, files: [...new Set(files)], stage }];
    }),
  );
}

const minWordLength = 3;

/**
 * Reads `[redaction]`: words by the data class that they mark. Refuses a word of fewer than three characters, because
 * it would match everywhere.
 */
export function readRedactionSection(reader: TableReader): ClassWords {
  const words = sensitiveClasses.flatMap((dataClass): [string, readonly string[]][] => {
    const list = reader.texts(dataClass, []);
    for (const [index, word] of list.entries()) {
      if (word.length < minWordLength)
        reader.refuse(
          `${reader.at(dataClass)}[${index}]`,
          `expected at least ${minWordLength} characters, found ${word.length}`,
        );
    }
    return list.length === 0 ? [] : [[dataClass, list]];
  });
  reader.end();
  return Object.fromEntries(words);
}

/**
 * `[runners]`: runners that writ trusts. A run from one of them continues on another machine without repeating its
 * checks.
 */
export interface RunnersConfig {
  /** Public keys (PEM) below `.writ/trust/`, as paths from the root of the repository. */
  readonly keys: readonly string[];
}

const maxKeys = 64;

/** Reads `[runners]`. Refuses a path outside `.writ/trust/`, because a patch in that directory needs two approvals. */
export function readRunnersSection(reader: TableReader): RunnersConfig {
  const keys = reader.texts('keys', []);
  for (const [index, path] of keys.entries()) {
    if (!/^\.writ\/trust\/[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(path))
      reader.refuse(
        `${reader.at('keys')}[${index}]`,
        'expected the path of a public key, `.writ/trust/NAME`',
      );
  }
  if (keys.length > maxKeys) reader.refuse(reader.at('keys'), `expected at most ${maxKeys} keys`);
  reader.end();
  return { keys };
}

/** Forms of `[signer]` settings, by the name of the key source. */
export type SignerForms = ReadonlyMap<string, SignerForm>;

/** Reads `[signer]` as the sources of keys understand it. */
export function readSignerSection(reader: TableReader, forms: SignerForms): SignerConfig {
  const text = reader.has('key') ? reader.text('key', '') : '';
  const settings = readSettings(reader, forms);
  reader.end();
  const named = Object.fromEntries(settings.map(({ setting, value }) => [setting.name, value]));
  if (text === '') return { ...named, key: { form: unasked(forms) } };
  const colon = text.indexOf(':');
  const form = colon < 0 ? text : text.slice(0, colon);
  const source = forms.get(form);
  const key =
    source?.usage === undefined ? undefined : source.parse(colon < 0 ? undefined : text.slice(colon + 1));
  if (key === undefined || 'expected' in key) {
    reader.refuse(reader.at('key'), key?.expected ?? anyOf(forms));
    return { ...named, key: { form } };
  }
  for (const { owner, setting } of settings)
    if (owner !== form) reader.refuse(reader.at(setting.key), setting.misplaced);
  return { ...named, key };
}

interface ReadSetting {
  readonly owner: string;
  readonly setting: SignerSetting;
  readonly value: unknown;
}

function readSettings(reader: TableReader, forms: SignerForms): readonly ReadSetting[] {
  const read: ReadSetting[] = [];
  for (const [owner, { settings = [] }] of forms) {
    for (const setting of settings) {
      const text = reader.has(setting.key) ? reader.text(setting.key, '') : '';
      // The reader has already refused a value that is not a string.
      if (text === '') continue;
      const found = setting.parse(text);
      if ('expected' in found) reader.refuse(reader.at(setting.key), found.expected);
      else read.push({ owner, setting, value: found.value });
    }
  }
  return read;
}

/** The source that answers where no key is configured; none has an empty name. */
function unasked(forms: SignerForms): string {
  return [...forms].find(([, { usage }]) => usage === undefined)?.[0] ?? '';
}

function anyOf(forms: SignerForms): string {
  const usages = [...forms.values()].flatMap(({ usage }) => (usage === undefined ? [] : [`\`${usage}\``]));
  return `expected ${usages.join(', ').replace(/, ([^,]*)$/, ' or $1')}`;
}

/** How `[signer]` and `[log]` are read. */
export interface SealingForms {
  readonly signers: SignerForms;
  readonly logs: LogForms;
}

/** As every source in the slots of an engine understands its own keys of them. */
export async function sealingFormsOf({ signer, log }: Pick<Slots, 'signer' | 'log'>): Promise<SealingForms> {
  return { signers: await allOf(signer), logs: await allOf(log) };
}

async function allOf<T>(slot: { readonly names: readonly string[]; pick(name: string): Promise<T> }) {
  return new Map(await Promise.all(slot.names.map(async (name) => [name, await slot.pick(name)] as const)));
}
