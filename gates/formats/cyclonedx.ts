import { isObject, isText, type JsonObject } from './read-json.ts';

/** JSON versions of the standard (ECMA-424 is 1.6). */
const versions: readonly unknown[] = ['1.2', '1.3', '1.4', '1.5', '1.6', '1.7'];
const componentTypes: readonly unknown[] = [
  'application',
  'framework',
  'library',
  'container',
  'platform',
  'operating-system',
  'device',
  'device-driver',
  'firmware',
  'file',
  'machine-learning-model',
  'data',
  'cryptographic-asset',
];
const serial = /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const maxDepth = 64;

/**
 * What a document lacks to be a CycloneDX JSON BOM (required members and unique `bom-ref`); `undefined` where it is.
 */
export function cyclonedxFault(value: unknown): string | undefined {
  if (!isObject(value)) return 'no JSON object';
  const { bomFormat, specVersion, serialNumber, version, metadata, components, dependencies } = value;
  if (bomFormat !== 'CycloneDX') return '`bomFormat` that is not "CycloneDX"';
  if (!versions.includes(specVersion)) return `\`specVersion\` that is none of ${versions.join(', ')}`;
  if (serialNumber !== undefined && !(isText(serialNumber) && serial.test(serialNumber)))
    return '`serialNumber` that is no lower-case `urn:uuid:`';
  if (version !== undefined && !(Number.isInteger(version) && Number(version) >= 1))
    return '`version` that is no integer from 1';
  const refs = new Set<string>();
  const root = isObject(metadata) ? metadata.component : undefined;
  const fault =
    (metadata !== undefined && !isObject(metadata) ? '`metadata` that is no object' : undefined) ??
    (root === undefined ? undefined : componentFault(root, '`metadata.component`', refs, 0)) ??
    listFault(components, 'components', refs, 0);
  return fault ?? dependencyFault(dependencies);
}

function listFault(components: unknown, name: string, refs: Set<string>, depth: number): string | undefined {
  if (components === undefined) return undefined;
  if (!Array.isArray(components)) return `\`${name}\` that is no list`;
  if (depth > maxDepth) return `components nested deeper than ${maxDepth}`;
  for (const [index, component] of components.entries()) {
    const fault = componentFault(component, `\`${name}[${index}]\``, refs, depth);
    if (fault) return fault;
  }
  return undefined;
}

function componentFault(
  component: unknown,
  where: string,
  refs: Set<string>,
  depth: number,
): string | undefined {
  if (!isObject(component)) return `no object at ${where}`;
  if (!componentTypes.includes(component.type)) return `no known \`type\` in ${where}`;
  if (!isText(component.name)) return `no \`name\` in ${where}`;
  const ref = component['bom-ref'];
  if (ref !== undefined) {
    if (!isText(ref)) return `\`bom-ref\` that is no text in ${where}`;
    if (refs.has(ref)) return `a \`bom-ref\` that another component has too in ${where}`;
    refs.add(ref);
  }
  return listFault(component.components, 'components', refs, depth + 1);
}

/** Services may be depended on too and are not judged here, so a `ref` is only asked to be a text. */
function dependencyFault(dependencies: unknown): string | undefined {
  if (dependencies === undefined) return undefined;
  if (!Array.isArray(dependencies)) return '`dependencies` that are no list';
  const bad = dependencies.findIndex((entry) => !isObject(entry) || !isText(entry.ref));
  return bad === -1 ? undefined : `no \`ref\` in \`dependencies[${bad}]\``;
}

/** Components of a document without fault, nested ones too, by `bom-ref`. */
export function componentsByRef({ metadata, components }: JsonObject): ReadonlyMap<string, JsonObject> {
  const byRef = new Map<string, JsonObject>();
  const waiting: unknown[] = [isObject(metadata) ? metadata.component : undefined, components];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (Array.isArray(next)) for (const one of next) waiting.push(one);
    if (!isObject(next)) continue;
    if (isText(next['bom-ref'])) byRef.set(next['bom-ref'], next);
    if (next.components !== undefined) waiting.push(next.components);
  }
  return byRef;
}

/** Property of a vulnerability of a scanner's report: `new` or `unchanged`, compared with the report at the base. */
export const baselineProperty = 'writ:baseline-state';

/** The first property of that name, of metadata, a component or a vulnerability. */
export function propertyOf(holder: unknown, name: string): string | undefined {
  const properties = isObject(holder) && Array.isArray(holder.properties) ? holder.properties : [];
  const found: unknown = properties.find((one) => isObject(one) && one.name === name);
  return isObject(found) && isText(found.value) ? found.value : undefined;
}
