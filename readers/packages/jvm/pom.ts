import { LockBuilder } from '../lock-builder.ts';
import type { LockedPackage } from '../locked-package.ts';
import type { ReadingBuilder } from '../reading.ts';
import { childText, descendants, type XmlElement, xmlTree } from './xml-tree.ts';

type Kind = 'dependency' | 'managed' | 'plugin' | 'managed-plugin' | 'extension' | 'parent' | 'repository';

/** Parents that make an element what its name says: a repository elsewhere says where to publish. */
const parents: Readonly<Record<string, readonly [kind: Kind, parent: RegExp]>> = {
  dependency: ['dependency', /^dependencies$/],
  plugin: ['plugin', /^plugins$/],
  extension: ['extension', /^extensions$/],
  parent: ['parent', /^project$/],
  repository: ['repository', /^(?:r|pluginR)epositories$/],
  pluginRepository: ['repository', /^(?:r|pluginR)epositories$/],
};
const coordinates = ['groupId', 'artifactId', 'version'] as const;

/**
 * pom.xml: dependencies, plugins, extensions and the parent, with properties and managed versions as far as the file
 * itself holds them. A version that stands elsewhere (a parent, an imported list) is left empty, and what is written of
 * it is the requirement.
 */
export function readPom(text: string, reading: ReadingBuilder): void {
  const project = xmlTree(text);
  if (typeof project === 'string') return void reading.problem(project);
  if (project.name !== 'project') return void reading.problem('it is no `project`');
  const artifacts: [kind: Kind, element: XmlElement][] = [];
  const properties = new Map<string, string>();
  for (const [element, parent, above] of descendants(project)) {
    const kind = kindOf(element, parent, above);
    if (kind) artifacts.push([kind, element]);
    if (parent.name === 'properties' && /^(?:project|profile)$/.test(above?.name ?? ''))
      properties.set(element.name, element.text.trim());
  }
  const parent = artifacts.find(([kind]) => kind === 'parent')?.[1];
  for (const key of coordinates) {
    const inherited = parent ? childText(parent, key) : '';
    const own = childText(project, key) || inherited;
    for (const prefix of ['project.', 'pom.', '']) properties.set(`${prefix}${key}`, own);
    properties.set(`project.parent.${key}`, inherited);
  }
  const filled = (element: XmlElement, name: string): string => fill(childText(element, name), properties);
  const own = (key: string): string => fill(properties.get(key) ?? '', properties);
  reading.local.add(`${own('groupId')}:${own('artifactId')}`);
  const nameOf = (kind: Kind, element: XmlElement): string => {
    const group = filled(element, 'groupId') || (kind.endsWith('plugin') ? 'org.apache.maven.plugins' : '');
    return `${group}:${filled(element, 'artifactId')}`;
  };
  const managed = new Map<string, string>();
  for (const [kind, element] of artifacts)
    if (kind.startsWith('managed'))
      managed.set(`${kind} ${nameOf(kind, element)}`, filled(element, 'version'));
  const builder = new LockBuilder(reading);
  for (const [kind, element] of artifacts) {
    const { line } = element;
    const scope = childText(element, 'scope');
    if (kind === 'repository') {
      reading.source('repositories', filled(element, 'url'), { line });
      if (element.children.some((child) => childText(child, 'checksumPolicy') === 'ignore'))
        reading.source('checksumPolicy', 'ignore', { line, counts: 'added' });
    }
    if (kind === 'repository' || kind === 'managed-plugin' || (kind === 'managed' && scope !== 'import'))
      continue;
    const name = nameOf(kind, element);
    if (/^:|:$|\$/.test(name)) {
      reading.problem(`line ${line} names a ${kind} whose coordinates this file does not say`);
      continue;
    }
    const listed = kind === 'plugin' ? `managed-plugin ${name}` : `managed ${name}`;
    const written = filled(element, 'version') || managed.get(listed) || '';
    const isExact = written !== '' && !/[[(,$]|^(?:LATEST|RELEASE)$/.test(written);
    const variant = `${childText(element, 'classifier')} ${childText(element, 'type')}`;
    builder.add(`${name} ${written} ${kind} ${variant}`, {
      name,
      version: isExact ? written : '',
      ...(isExact ? {} : { requirement: written === '' ? 'a version that this file does not say' : written }),
      source: scope === 'system' ? 'path' : 'registry',
      origin: scope === 'system' ? filled(element, 'systemPath') : undefined,
      qualifiers: { classifier: filled(element, 'classifier') },
      scope: scopeOf(kind, element),
      direct: true,
      line,
      asks: [],
    });
  }
  builder.finish();
  reading.knowsDirect = true;
}

function kindOf(element: XmlElement, parent: XmlElement, above: XmlElement | undefined): Kind | undefined {
  const [kind, expected] = Object.hasOwn(parents, element.name) ? (parents[element.name] ?? []) : [];
  if (!expected?.test(parent.name)) return undefined;
  if (kind === 'dependency' && above?.name === 'dependencyManagement') return 'managed';
  return kind === 'plugin' && above?.name === 'pluginManagement' ? 'managed-plugin' : kind;
}

function scopeOf(kind: Kind, element: XmlElement): LockedPackage['scope'] {
  if (kind !== 'dependency') return kind === 'parent' || kind === 'managed' ? 'unknown' : 'development';
  if (childText(element, 'optional') === 'true') return 'optional';
  return childText(element, 'scope') === 'test' ? 'development' : 'runtime';
}

/** `${name}` by the file's own properties, nested at most ten times; what is not known stays as it is. */
function fill(text: string, properties: ReadonlyMap<string, string>): string {
  let filled = text;
  for (let round = 0; round < 10 && filled.includes('${') && filled.length < 2000; round += 1) {
    const next = filled.replace(/\$\{([^${}]*)\}/g, (whole, name: string) => properties.get(name) || whole);
    if (next === filled) break;
    filled = next;
  }
  return filled.length < 2000 ? filled : '$';
}
