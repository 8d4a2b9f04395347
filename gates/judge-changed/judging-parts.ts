/* The parts of a manifest that affect verification. */
import { canonicalize } from '../../core/base/canonical.ts';
import { isVerificationTool, toolMembers, toolSections } from '../../readers/judges/manifests.ts';
import { jsonContent, type Table, tableOf, tomlContent } from '../../readers/packages/content.ts';

/** Parts of a file that affect verification, by name; `undefined` if the whole file does. */
type JudgingParts = ReadonlyMap<string, string>;

/** Files of which only parts affect verification. */
export const manifestGlobs: readonly string[] =
  `package.json composer.json pyproject.toml Cargo.toml setup.cfg tox.ini
  pom.xml mix.exs .npmrc CMakeLists.txt meson.build *.gradle *.gradle.kts *.csproj *.fsproj *.vbproj`
    .split(/\s+/)
    .map((name) => `**/${name}`);

/** Members of `package.json` that affect loading, and those of tools. `new-dependency` covers dependencies. */
const packageMembers = ['type', 'imports', 'packageManager', 'config', 'workspaces', ...toolMembers];
const usualScripts =
  /^(?:pre|post)?(?:test|lint|check|verify|validate|typecheck|type-check|ci|audit|coverage|e2e|unit|integration|build)(?:[:.-].*)?$/;
const cargoMembers = ['lib', 'bin', 'test', 'bench', 'features', 'profile', 'lints'];
const cargoPackage = ['autotests', 'autobenches', 'autobins', 'build', 'links'];

/**
 * The parts of a manifest that affect verification.
 *
 * - `scripts`: names of the scripts that checks reach, if known.
 * - `isAmongOthers`: a `package.json` inside another package, so that its `exports` count too.
 * - `runs`: whether a tool with its own section may run.
 *
 * A manifest that cannot be parsed is a single part.
 */
export function verificationInputs(
  path: string,
  bytes: Uint8Array,
  scripts: readonly string[] | undefined,
  isAmongOthers = false,
  runs: (tool: string) => boolean = () => true,
): JudgingParts | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (name === 'package.json' || name === 'composer.json')
    return ofTables(jsonContent(text), text, (table) => ofPackage(table, scripts, name, isAmongOthers));
  if (name === 'pyproject.toml')
    return ofTables(tomlContent(text), text, (table) => ofPyproject(table, runs));
  if (name === 'Cargo.toml') return ofTables(tomlContent(text), text, ofCargo);
  if (name === 'setup.cfg' || name === 'tox.ini')
    return new Map(toolSections(text, runs).map(([key, part]) => [key, part.replace(markers, '').trim()]));
  // `new-dependency` covers package sources.
  if (name === '.npmrc') return part('settings', withoutLines(text, npmSource));
  if (name === 'pom.xml') return new Map([['build', plainXml(text)]]);
  if (/\.(?:cs|fs|vb)proj$/.test(name))
    return ofLines(text, /Test|Remove=|RunSettings|TreatWarnings|NoWarn|Import\b|Target\b|Exec\b/);
  if (/\.gradle(?:\.kts)?$/.test(name)) return part('build', withoutLines(text, gradleDependency));
  if (/^(?:CMakeLists\.txt|meson\.build)$/.test(name))
    return ofLines(
      text,
      /\b(?:add_test|enable_testing|set_tests_properties|\w*discover_tests|CTEST\w*|test|BUILD_TESTING)\b/i,
    );
  if (name === 'mix.exs') return new Map([['project', withoutLines(text, /^\s*\{:\w+,|^\s*version:/)]]);
  return undefined;
}

function ofTables(
  content: ReturnType<typeof jsonContent>,
  text: string,
  parts: (table: Table) => readonly (readonly [string, unknown])[],
): JudgingParts {
  if ('reason' in content) return new Map([['all of it', text]]);
  try {
    return new Map(
      parts(content.value).flatMap(([key, value]) =>
        value === undefined ? [] : [[key, said(value)] as const],
      ),
    );
  } catch {
    return new Map([['all of it', text]]);
  }
}

function said(value: unknown): string {
  return canonicalize(JSON.parse(JSON.stringify(value)));
}

function ofPackage(
  table: Table,
  reached: readonly string[] | undefined,
  name: string,
  isAmongOthers: boolean,
): readonly (readonly [string, unknown])[] {
  const scripts = tableOf(table.scripts);
  const names = new Set(
    reached === undefined
      ? Object.keys(scripts).filter((script) => usualScripts.test(script))
      : reached.flatMap((script) =>
          /^(?:pre|post)/.test(script) ? [script] : [`pre${script}`, script, `post${script}`],
        ),
  );
  const members = name === 'composer.json' ? ['config', 'autoload-dev', 'scripts-aliases'] : packageMembers;
  return [
    // If a script runs the directory itself, `main` selects the file.
    ...[...members, ...(isAmongOthers ? ['exports'] : []), ...(reached?.includes('') ? ['main'] : [])].map(
      (key) => [key, Object.hasOwn(table, key) ? table[key] : undefined] as const,
    ),
    ...[...names].map(
      (key) => [`scripts.${key}`, Object.hasOwn(scripts, key) ? scripts[key] : undefined] as const,
    ),
  ];
}

function ofPyproject(table: Table, runs: (tool: string) => boolean): readonly (readonly [string, unknown])[] {
  const { pytest11 } = tableOf(tableOf(table.project)['entry-points']);
  const tools = Object.entries(tableOf(table.tool))
    .map(([tool, value]) => [`tool.${tool}`, tool === 'pytest' ? withoutMarkers(value) : value] as const)
    .filter(([name]) => isVerificationTool(name, runs));
  return [...tools, ['project.entry-points.pytest11', pytest11]];
}

/** A marker that is registered selects no test: options do that. */
const markers = /^markers[ \t]*=.*(?:\n[ \t]+.*)*\n?/gm;

function withoutMarkers(pytest: unknown): Table {
  const { markers: _, ini_options: options, ...rest } = tableOf(pytest);
  if (options === undefined) return rest;
  const { markers: __, ...others } = tableOf(options);
  return { ...rest, ini_options: others };
}

function ofCargo(table: Table): readonly (readonly [string, unknown])[] {
  const about = tableOf(table.package);
  return [
    ...cargoMembers.map((key) => [key, table[key]] as const),
    ...cargoPackage.map((key) => [`package.${key}`, about[key]] as const),
    ['workspace', { ...tableOf(table.workspace), dependencies: undefined }],
  ];
}

/** An empty text gives no part. */
function part(name: string, text: string): JudgingParts {
  return new Map(text === '' ? [] : [[name, text]]);
}

function ofLines(text: string, form: RegExp): JudgingParts {
  const lines = text.split('\n').filter((line) => line.length < 2_000 && form.test(line));
  return part('tests', lines.map((line) => line.trim()).join('\n'));
}

const npmSource =
  /^\s*(?:[#;].*|(?:@[\w.-]+:)?registry\s*=.*|\/\/.*|(?:save\w*|save-exact|save-prefix|fund|audit(?:-level)?|progress|loglevel|_auth\w*|email|always-auth|ca|cafile|strict-ssl|proxy|https-proxy|noproxy|package-lock|lockfile|engine-strict|legacy-peer-deps|ignore-scripts)\s*=.*)?$/;

const gradleDependency =
  /^\s*(?:\/\/.*|\w*(?:[iI]mplementation|[aA]pi|[cC]ompileOnly|[rR]untimeOnly|[kK]apt|ksp|[aA]nnotationProcessor|classpath|platform|bom)\b[ (].*|(?:version|group|description)\b.*)?$/;

function withoutLines(text: string, form: RegExp): string {
  return text
    .split('\n')
    .filter((line) => line.length > 2_000 || !(line.trim() === '' || form.test(line)))
    .map((line) => line.trim())
    .join('\n');
}

/** A `pom.xml` without dependencies and versions. */
function plainXml(text: string): string {
  const kept: string[] = [];
  let from = 0;
  for (let open = text.indexOf('<dependency>'); open !== -1; open = text.indexOf('<dependency>', from)) {
    kept.push(text.slice(from, open));
    const close = text.indexOf('</dependency>', open);
    if (close === -1) return text;
    from = close + '</dependency>'.length;
  }
  kept.push(text.slice(from));
  return kept
    .join('')
    .replace(/<(?:version|description|name|url)>[^<]{0,2000}<\/(?:version|description|name|url)>/g, '')
    .replace(/\s+/g, ' ');
}
