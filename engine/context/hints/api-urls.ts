/* Finds the endpoints of `touchHints.apis` in the API descriptions of a tree. */
import { canonicalize } from '../../../core/base/canonical.ts';
import { isRecord } from '../../../core/base/json-pointer.ts';
import { parseStrictJson } from '../../../core/base/strict-json.ts';
import { type Content, textContent, yamlAsJson } from '../../../readers/packages/content.ts';
import type { GitDirectory } from '../../../workspace/git/git.ts';
import type { TreeEntry } from '../../../workspace/git/tree.ts';
import { eachBlob, isFile } from '../import-graph.ts';

/** One endpoint as an API description of the tree has it. */
export interface ApiUrl {
  readonly api: string;
  readonly url: string;
  /** Path of the description. */
  readonly description: string;
  /** The endpoint's part of the description, as canonical JSON. */
  readonly text: Uint8Array;
}

export interface FoundApis {
  readonly urls: readonly ApiUrl[];
  /** Entries that no description gives an absolute URL for. */
  readonly unresolved: readonly string[];
  /** Descriptions that were not read, in words. */
  readonly gaps: readonly string[];
}

const descriptionName = /(?:^|\/)(?:openapi|swagger)[^/]*\.(json|ya?ml)$/i;
const method = /^(?:get|put|post|delete|options|head|patch|trace)\s+/i;
const maxDescriptionBytes = 16 * 1024 * 1024;
const maxDescriptions = 64;
const maxServers = 16;
const maxUrls = 256;

/** Limit for all YAML files together: parsing YAML is a hundred times as slow as JSON. */
const maxYamlBytes = 4 * 1024 * 1024;

/**
 * Looks `touchHints.apis` up in the `openapi*` and `swagger*` files of a tree, in JSON or YAML: `servers[].url` and the
 * path make the URL. A path may be written with its server's base path, with a method before it, with values or other
 * names for parameters.
 */
export async function findApis(
  objects: GitDirectory,
  entries: readonly TreeEntry[],
  apis: readonly string[],
): Promise<FoundApis> {
  if (apis.length === 0) return { urls: [], unresolved: [], gaps: [] };
  const described = entries.filter((entry) => isFile(entry) && descriptionName.test(entry.path));
  const readable = selectReadable(described);
  const gaps = described
    .filter((entry) => !readable.includes(entry))
    .map(({ path }) => `${path}: too large, or too many`);
  const urls: ApiUrl[] = [];
  await eachBlob(objects, readable, (entry, bytes) => {
    const { path } = entry;
    const read = bytes && readDescription(bytes, isYaml(entry));
    if (read === undefined || 'reason' in read)
      return void gaps.push(`${path}: ${read?.reason ?? 'git does not hold it'}`);
    for (const api of apis) {
      for (const { url, text } of urlsOf(read.value, api))
        if (urls.length < maxUrls) urls.push({ api, url, description: path, text });
    }
  });
  const resolved = new Set(urls.map(({ api }) => api));
  return { urls, unresolved: apis.filter((api) => !resolved.has(api)), gaps: gaps.slice(0, maxDescriptions) };
}

function isYaml({ path }: TreeEntry): boolean {
  return !path.toLowerCase().endsWith('.json');
}

function selectReadable(described: readonly TreeEntry[]): readonly TreeEntry[] {
  let yamlBytes = 0;
  return described
    .filter((entry) => {
      if (entry.sizeBytes > maxDescriptionBytes) return false;
      if (!isYaml(entry)) return true;
      if (yamlBytes + entry.sizeBytes > maxYamlBytes) return false;
      yamlBytes += entry.sizeBytes;
      return true;
    })
    .slice(0, maxDescriptions);
}

type Json = Readonly<Record<string, unknown>>;

function readDescription(bytes: Uint8Array, yaml: boolean): Content<Json> {
  const content = yaml ? readYaml(bytes) : readJson(bytes);
  if ('reason' in content || isRecord(content.value.paths)) return content;
  return { reason: 'not an API description' };
}

function readYaml(bytes: Uint8Array): Content<Json> {
  const text = textContent(bytes);
  return 'reason' in text ? text : yamlAsJson(text.value);
}

function readJson(bytes: Uint8Array): Content<Json> {
  try {
    const { value } = parseStrictJson(bytes, { maxBytes: maxDescriptionBytes, maxDepth: 128 });
    return isRecord(value) ? { value } : { reason: 'not an API description' };
  } catch {
    return { reason: 'it is not strict JSON' };
  }
}

function urlsOf(document: Json, api: string): readonly { readonly url: string; readonly text: Uint8Array }[] {
  const asked = api.trim().replace(method, '');
  return Object.entries(document.paths as Json).flatMap(([path, item]) => {
    if (!path.startsWith('/') || !isRecord(item)) return [];
    return serversOf(document, item).flatMap((server) => {
      const base = server.pathname.replace(/\/$/, '');
      if (!isSamePath(path, asked) && !isSamePath(base + path, asked)) return [];
      const url = URL.parse(server.origin + base + path);
      return url ? [{ url: url.href, text: Buffer.from(canonicalize({ [path]: item })) }] : [];
    });
  });
}

/** Returns the nearest servers, absolute URLs only, because a relative URL contains no host. */
function serversOf(document: Json, item: Json): readonly URL[] {
  const listed = [item.servers, document.servers].find((servers) => Array.isArray(servers));
  const urls = Array.isArray(listed) ? listed.slice(0, maxServers).map(serverUrl) : swaggerServers(document);
  return urls.flatMap((url) => {
    const parsed = url === undefined ? null : URL.parse(url);
    return parsed && /^https?:$/.test(parsed.protocol) ? [parsed] : [];
  });
}

function serverUrl(server: unknown): string | undefined {
  if (!isRecord(server) || typeof server.url !== 'string') return undefined;
  const variables = isRecord(server.variables) ? server.variables : {};
  return server.url.replace(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    return isRecord(variable) && typeof variable.default === 'string' ? variable.default : whole;
  });
}

/** Swagger 2: `schemes`, `host`, `basePath`. */
function swaggerServers({ host, basePath, schemes }: Json): readonly string[] {
  if (typeof host !== 'string') return [];
  const listed = Array.isArray(schemes) ? schemes.slice(0, maxServers) : ['https'];
  return listed.map((scheme) => `${scheme}://${host}${typeof basePath === 'string' ? basePath : ''}`);
}

function isSamePath(described: string, asked: string): boolean {
  const left = described.replace(/\/$/, '').split('/');
  const right = asked
    .replace(/[?#].*$/s, '')
    .replace(/\/$/, '')
    .split('/');
  return (
    left.length === right.length &&
    left.every((segment, index) => segment === right[index] || (segment.includes('{') && right[index] !== ''))
  );
}
