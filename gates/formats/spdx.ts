import { isObject, isText } from './read-json.ts';

const identifier = /^SPDXRef-[A-Za-z0-9.-]+$/;
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const creator = /^(?:Tool|Organization|Person): ./;

/** What a document lacks to be SPDX 2.2 or 2.3 JSON (mandatory fields of clauses 6 and 7); `undefined` where it is. */
export function spdxFault(value: unknown): string | undefined {
  if (!isObject(value)) return 'no JSON object';
  const { spdxVersion, dataLicense, SPDXID, name, documentNamespace, creationInfo, packages } = value;
  if (spdxVersion !== 'SPDX-2.3' && spdxVersion !== 'SPDX-2.2')
    return '`spdxVersion` that is neither "SPDX-2.3" nor "SPDX-2.2"';
  if (dataLicense !== 'CC0-1.0') return '`dataLicense` that is not "CC0-1.0"';
  if (SPDXID !== 'SPDXRef-DOCUMENT') return '`SPDXID` that is not "SPDXRef-DOCUMENT"';
  if (!isText(name)) return 'no `name`';
  if (!isText(documentNamespace) || !/^[A-Za-z][A-Za-z0-9+.-]*:[^#]+$/.test(documentNamespace))
    return 'no `documentNamespace` that is a URI without `#`';
  if (!isObject(creationInfo)) return 'no `creationInfo`';
  if (!isText(creationInfo.created) || !instant.test(creationInfo.created))
    return 'no `creationInfo.created` of the form YYYY-MM-DDThh:mm:ssZ';
  const { creators } = creationInfo;
  if (
    !Array.isArray(creators) ||
    creators.length === 0 ||
    !creators.every((one) => isText(one) && creator.test(one))
  )
    return 'no `creationInfo.creators` that name a tool, organization or person';
  if (packages === undefined) return undefined;
  if (!Array.isArray(packages)) return '`packages` that are no list';
  return packageFault(packages);
}

function packageFault(packages: readonly unknown[]): string | undefined {
  const ids = new Set<string>();
  for (const [index, entry] of packages.entries()) {
    const where = `\`packages[${index}]\``;
    if (!isObject(entry)) return `no object at ${where}`;
    const { SPDXID, name, downloadLocation } = entry;
    if (!isText(SPDXID) || !identifier.test(SPDXID)) return `no \`SPDXID\` in ${where}`;
    if (ids.has(SPDXID)) return `an \`SPDXID\` that another package has too in ${where}`;
    if (!isText(name)) return `no \`name\` in ${where}`;
    if (!isText(downloadLocation)) return `no \`downloadLocation\` in ${where}`;
    ids.add(SPDXID);
  }
  return undefined;
}
