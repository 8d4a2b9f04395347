import { LockBuilder } from '../lock-builder.ts';
import type { LockedPackage } from '../locked-package.ts';
import type { ReadingBuilder } from '../reading.ts';
import { openXml } from './open-xml.ts';

const maxDepth = 100;
const maxNodes = 500_000;

interface Artifact {
  readonly kind:
    | 'dependency'
    | 'managed'
    | 'plugin'
    | 'managed-plugin'
    | 'extension'
    | 'parent'
    | 'project'
    | 'repository'
    | 'exclusion';
  readonly line: number;
  readonly values: Map<string, string>;
}

/**
 * pom.xml: dependencies, plugins, extensions and the parent, with properties and managed versions as far as the file
 * itself holds them. A version that stands elsewhere (a parent, an imported list) is left empty, and what is written of
 * it is the requirement. Document type declarations are refused.
 */
export function readPom(text: string, reading: ReadingBuilder): void {
  const pom = parse(text);
  if (typeof pom === 'string') {
    reading.problem(pom);
    return;
  }
  const { artifacts, properties } = pom;
  const project = artifacts.find(({ kind }) => kind === 'project');
  const parent = artifacts.find(({ kind }) => kind === 'parent');
  const own = (key: string): string => project?.values.get(key) ?? parent?.values.get(key) ?? '';
  for (const prefix of ['project.', 'pom.', ''])
    for (const key of ['groupId', 'artifactId', 'version']) properties.set(`${prefix}${key}`, own(key));
  for (const key of ['groupId', 'artifactId', 'version'])
    properties.set(`project.parent.${key}`, parent?.values.get(key) ?? '');
  const filled = (value: string | undefined): string => fill(value ?? '', properties);
  reading.local.add(`${filled(own('groupId'))}:${filled(own('artifactId'))}`);
  const nameOf = ({ kind, values }: Artifact): string => {
    const isPlugin = kind === 'plugin' || kind === 'managed-plugin';
    return `${filled(values.get('groupId')) || (isPlugin ? 'org.apache.maven.plugins' : '')}:${filled(values.get('artifactId'))}`;
  };
  const managed = new Map<string, string>();
  for (const artifact of artifacts) {
    if (artifact.kind !== 'managed' && artifact.kind !== 'managed-plugin') continue;
    managed.set(`${artifact.kind} ${nameOf(artifact)}`, filled(artifact.values.get('version')));
  }
  for (const { kind, values, line } of artifacts) {
    if (kind !== 'repository') continue;
    reading.source('repositories', filled(values.get('url')), { line });
    if (values.get('checksumPolicy') === 'ignore')
      reading.source('checksumPolicy', 'ignore', { line, counts: 'added' });
  }
  const builder = new LockBuilder(reading);
  for (const artifact of artifacts) {
    const { kind, values, line } = artifact;
    const isImport = kind === 'managed' && values.get('scope') === 'import';
    if (
      kind === 'project' ||
      kind === 'repository' ||
      kind === 'exclusion' ||
      kind === 'managed-plugin' ||
      (kind === 'managed' && !isImport)
    )
      continue;
    const name = nameOf(artifact);
    if (/^:|:$|\$/.test(name)) {
      reading.problem(`line ${line} names a ${kind} whose coordinates this file does not say`);
      continue;
    }
    const listed = kind === 'plugin' ? `managed-plugin ${name}` : `managed ${name}`;
    const written = filled(values.get('version')) || managed.get(listed) || '';
    const isExact = written !== '' && !/[[(,$]|^(?:LATEST|RELEASE)$/.test(written);
    const system = values.get('scope') === 'system';
    builder.add(`${name} ${written} ${kind} ${values.get('classifier') ?? ''} ${values.get('type') ?? ''}`, {
      name,
      version: isExact ? written : '',
      ...(isExact ? {} : { requirement: written === '' ? 'a version that this file does not say' : written }),
      source: system ? 'path' : 'registry',
      origin: system ? filled(values.get('systemPath')) : undefined,
      qualifiers: { classifier: filled(values.get('classifier')) },
      scope: scopeOf(kind, values),
      direct: true,
      line,
      asks: [],
    });
  }
  builder.finish();
  reading.knowsDirect = true;
}

function scopeOf(kind: Artifact['kind'], values: ReadonlyMap<string, string>): LockedPackage['scope'] {
  if (kind !== 'dependency') return kind === 'parent' || kind === 'managed' ? 'unknown' : 'development';
  if (values.get('optional') === 'true') return 'optional';
  return values.get('scope') === 'test' ? 'development' : 'runtime';
}

/** `${name}` by the file's own properties, nested at most ten times; what is not known stays as it is. */
function fill(text: string, properties: ReadonlyMap<string, string>): string {
  let filled = text.trim();
  for (let round = 0; round < 10 && filled.includes('${') && filled.length < 2000; round += 1) {
    const next = filled.replace(/\$\{([^${}]*)\}/g, (whole, name: string) => properties.get(name) || whole);
    if (next === filled) break;
    filled = next;
  }
  return filled.length < 2000 ? filled : '$';
}

const kinds: Readonly<Record<string, Artifact['kind']>> = {
  dependency: 'dependency',
  plugin: 'plugin',
  extension: 'extension',
  parent: 'parent',
  project: 'project',
  repository: 'repository',
  pluginRepository: 'repository',
  exclusion: 'exclusion',
};

function parse(
  text: string,
): { readonly artifacts: readonly Artifact[]; readonly properties: Map<string, string> } | string {
  const artifacts: Artifact[] = [];
  const properties = new Map<string, string>();
  const path: string[] = [];
  const open: (Artifact | undefined)[] = [];
  const parser = openXml();
  let value = '';
  let nodes = 0;
  let fault: string | undefined;
  parser.on('error', () => {
    fault ??= 'it is not well-formed XML';
    throw new Stop();
  });
  const stop = (reason: string): never => {
    fault = reason;
    throw new Stop();
  };
  parser.on('doctype', () => stop('it declares a document type'));
  parser.on('opentag', ({ name }) => {
    nodes += 1;
    if (path.length >= maxDepth || nodes > maxNodes)
      stop(`it is nested deeper than ${maxDepth} or has more than ${maxNodes} elements`);
    const bare = name.slice(name.indexOf(':') + 1);
    const above = path.at(-1) ?? '';
    let kind = Object.hasOwn(kinds, bare) ? kinds[bare] : undefined;
    if (bare === 'project' && path.length > 0) kind = undefined;
    if (bare === 'parent' && above !== 'project') kind = undefined;
    if (bare === 'dependency' && above !== 'dependencies') kind = undefined;
    if (bare === 'plugin' && above !== 'plugins') kind = undefined;
    if (bare === 'extension' && above !== 'extensions') kind = undefined;
    // Another one says where to publish.
    if (kind === 'repository' && above !== 'repositories' && above !== 'pluginRepositories') kind = undefined;
    // Reporting plugins are run only for the site.
    if (kind === 'dependency' && path.at(-2) === 'dependencyManagement') kind = 'managed';
    if (kind === 'plugin' && path.at(-2) === 'pluginManagement') kind = 'managed-plugin';
    const artifact = kind && { kind, line: parser.line, values: new Map<string, string>() };
    if (artifact) artifacts.push(artifact);
    path.push(bare);
    open.push(artifact);
    value = '';
  });
  parser.on('text', (chunk) => {
    if (value.length + chunk.length <= 4096) value += chunk;
  });
  parser.on('cdata', (chunk) => {
    if (value.length + chunk.length <= 4096) value += chunk;
  });
  parser.on('closetag', () => {
    const name = path.pop() ?? '';
    open.pop();
    const around = open.at(-1) ?? (name === 'checksumPolicy' ? open.at(-2) : undefined);
    around?.values.set(name, value.trim());
    if (path.at(-1) === 'properties' && /^(?:project|profile)$/.test(path.at(-2) ?? ''))
      properties.set(name, value.trim());
    value = '';
  });
  try {
    parser.write(text).close();
  } catch (thrown) {
    if (!(thrown instanceof Stop)) throw thrown;
  }
  if (fault !== undefined) return fault;
  return artifacts[0]?.kind === 'project' ? { artifacts, properties } : 'it is no `project`';
}

class Stop extends Error {}
