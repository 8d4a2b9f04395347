import type { Models } from '@cyclonedx/cyclonedx-library';
import type { NpmPackage, NpmProject } from './npm/npm-project.ts';
import { hashesOf, originOf, purlOf } from './npm/package-origin.ts';

type Library = typeof import('@cyclonedx/cyclonedx-library');

/**
 * A CycloneDX 1.6 JSON document over npm projects. Same projects and time, same bytes on every machine: no serial number, and lists
 * in the order of code units (the library's own sorting depends on the locale, so it is not used).
 */
export async function toCycloneDx(
  projects: readonly NpmProject[],
  timeMs: number,
  subject: string,
): Promise<Uint8Array> {
  const [library, { default: parseExpression }] = await Promise.all([
    import('@cyclonedx/cyclonedx-library'),
    import('spdx-expression-parse'),
  ]);
  const { Enums, Models, Serialize, Spec } = library;
  const licenses = new library.Contrib.License.Factories.LicenseFactory((text) => void parseExpression(text));
  const bom = new Models.Bom();
  bom.metadata.timestamp = new Date(timeMs);
  bom.metadata.lifecycles.add(Enums.LifecyclePhase.PreBuild);
  bom.metadata.tools.components.add(
    new Models.Component(Enums.ComponentType.Application, 'writ', { bomRef: 'tool:writ' }),
  );
  bom.metadata.properties.add(new Models.Property('cdx:reproducible', 'true'));

  const [only] = projects;
  const single = projects.length === 1 && only !== undefined;
  const main = single
    ? undefined
    : new Models.Component(Enums.ComponentType.Application, subject, { bomRef: 'repository' });
  for (const project of projects) {
    const components = new Map<string, Models.Component>();
    for (const entry of project.packages) {
      const component = toComponent(library, licenses, project, entry);
      components.set(entry.path, component);
      if (entry.path !== '') bom.components.add(component);
      else if (single) bom.metadata.component = component;
      else {
        bom.components.add(component);
        main?.dependencies.add(component.bomRef);
      }
    }
    for (const { path, dependsOn } of project.packages) {
      for (const target of dependsOn) {
        const found = components.get(target);
        if (found !== undefined) components.get(path)?.dependencies.add(found.bomRef);
      }
    }
  }
  if (main !== undefined) bom.metadata.component = main;

  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  return Buffer.from(`${serializer.serialize(bom, { sortLists: false, space: 2 })}\n`);
}

function toComponent(
  { Enums, Models }: Library,
  licenses: InstanceType<Library['Contrib']['License']['Factories']['LicenseFactory']>,
  { directory }: NpmProject,
  entry: NpmPackage,
): Models.Component {
  const [, group, name = entry.name] = /^(@[^/]+)\/(.+)$/.exec(entry.name) ?? [];
  const place = [directory, entry.path].filter((part) => part !== '').join('/');
  const component = new Models.Component(
    entry.path === '' ? Enums.ComponentType.Application : Enums.ComponentType.Library,
    name,
    {
      bomRef: place === '' ? '.' : place,
      purl: purlOf(entry),
      ...(group === undefined ? {} : { group }),
      ...(entry.version === undefined ? {} : { version: entry.version }),
      ...(entry.path === '' ? {} : { scope: scopeOf(Enums, entry) }),
    },
  );
  if (entry.license !== undefined) {
    const license = licenses.makeFromString(entry.license);
    license.acknowledgement = Enums.LicenseAcknowledgement.Declared;
    component.licenses.add(license);
  }
  for (const [algorithm, hex] of hashesOf(entry))
    component.hashes.set(algorithm as Parameters<typeof component.hashes.set>[0], hex);

  const origin = originOf(entry);
  if (origin !== undefined) {
    const { VCS, Distribution } = Enums.ExternalReferenceType;
    component.externalReferences.add(
      new Models.ExternalReference(origin.url, origin.kind === 'git' ? VCS : Distribution),
    );
  }
  const installedAs = entry.path.slice(entry.path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const properties: Record<string, string> = {
    ...(entry.path.includes('node_modules/') && installedAs !== entry.name
      ? { 'writ:npm:alias': installedAs }
      : {}),
    ...(entry.bundled ? { 'cdx:npm:package:bundled': 'true' } : {}),
    ...(entry.dev ? { 'cdx:npm:package:development': 'true' } : {}),
    ...(entry.path === '' ? {} : { 'cdx:npm:package:path': entry.path }),
  };
  for (const key of Object.keys(properties).sort())
    component.properties.add(new Models.Property(key, properties[key] ?? ''));
  return component;
}

/** CycloneDX calls `excluded` what is not reachable at run time. */
function scopeOf(
  { ComponentScope }: Library['Enums'],
  { dev, optional }: NpmPackage,
): Models.Component['scope'] & string {
  if (dev) return ComponentScope.Excluded;
  return optional ? ComponentScope.Optional : ComponentScope.Required;
}
