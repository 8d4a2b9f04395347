/* Checks whether a tar archive contains exactly the files of a git tree. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { inflateStream, tarChecksum } from '../../readers/documents/archive/inflate.ts';
import { objectHash } from '../../workspace/git/git-object.ts';

/** An archive that holds a tree of git, or why it does not, or the name of a format that is not read. */
export type ArchiveAnswer =
  | { readonly prefix: string; readonly files: number }
  | { readonly reason: string }
  | { readonly unsupported: string };

type ObjectFormat = 'sha1' | 'sha256';

const block = 512;
/** Most octets of an archive, decompressed. */
const maxBytes = 4 * 1024 * 1024 * 1024;
const maxEntries = 500_000;
const maxPathBytes = 4096;
const maxPaxBytes = 64 * 1024;

/** First octets, hex, of archives that may hold a tree and are not read. */
const otherFormats: readonly (readonly [start: string, name: string])[] = [
  ['504b0304', 'zip'],
  ['504b0506', 'zip'],
  ['fd377a585a00', 'xz'],
  ['425a68', 'bzip2'],
  ['28b52ffd', 'zstd'],
];

interface Entry {
  readonly mode: '100644' | '100755' | '120000';
  readonly id: string;
}

/** The files of an archive by path, and its directories; paths are latin1: one character for each octet. */
interface Archive {
  readonly files: ReadonlyMap<string, Entry>;
  readonly directories: ReadonlySet<string>;
}

/** Why an archive is none that `git archive` writes. */
class NotOfGit extends Error {}

/**
 * Checks whether a tar or tar.gz contains exactly the files of a tree, as `git archive [--prefix=NAME/]` writes them:
 * content, executable bit, symlinks and paths.
 *
 * Reads the archive as a stream and computes the tree id from its files, so no repository is needed. Returns
 * `undefined` if the input is not an archive.
 */
export async function findTreeInArchive(
  chunks: AsyncIterable<Buffer>,
  tree: string,
): Promise<ArchiveAnswer | undefined> {
  const algorithm = tree.length === 64 ? 'sha256' : 'sha1';
  try {
    const archive = await readArchive(chunks, algorithm);
    return archive && ('unsupported' in archive ? archive : findTree(archive, tree, algorithm));
  } catch (fault) {
    if (fault instanceof NotOfGit) return { reason: fault.message };
    throw fault;
  }
}

async function readArchive(
  chunks: AsyncIterable<Buffer>,
  algorithm: ObjectFormat,
): Promise<Archive | { readonly unsupported: string } | undefined> {
  const source = Readable.from(chunks);
  try {
    const raw = new ByteReader(source);
    const head = await raw.peek(6);
    const start = head.toString('hex');
    const other = otherFormats.find(([magic]) => start.startsWith(magic));
    if (other !== undefined) return { unsupported: other[1] };
    if (head[0] !== 0x1f || head[1] !== 0x8b) return await readTar(raw, algorithm);
    let archive: Archive | undefined;
    await pipeline(raw.rest(), inflateStream(), async (plain) => {
      archive = await readTar(new ByteReader(plain as AsyncIterable<Buffer>), algorithm);
    });
    return archive;
  } catch (fault) {
    // What begins like gzip and is none, or ends early.
    if (isZlibFault(fault)) return undefined;
    throw fault;
  } finally {
    source.destroy();
  }
}

function isZlibFault(fault: unknown): boolean {
  return fault instanceof Error && 'code' in fault && /^(?:Z_|ERR_STREAM_PREMATURE)/.test(String(fault.code));
}

async function readTar(reader: ByteReader, algorithm: ObjectFormat): Promise<Archive | undefined> {
  const files = new Map<string, Entry>();
  const directories = new Set<string>();
  let pax: ReadonlyMap<string, string> = new Map();
  let total = 0;
  for (let n = 0; ; n += 1) {
    const header = await reader.read(block);
    if (header.length < block || (n === 0 && !isHeader(header))) {
      if (n === 0) return undefined;
      throw new NotOfGit('the archive ends early');
    }
    if (header.every((octet) => octet === 0)) break;
    if (!isHeader(header)) throw new NotOfGit('a header of the archive is damaged');
    if (n > maxEntries) throw new NotOfGit(`the archive has more than ${maxEntries} entries`);
    const { type, mode, size, ...plain } = readHeader(header);
    total += block + size;
    if (!(total <= maxBytes)) throw new NotOfGit(`the archive holds more than ${maxBytes} octets`);
    if (type === 'g' || type === 'x') {
      // The commit as a comment for the whole archive, at its begin; what does not fit for the next entry.
      if (type === 'g' ? n > 0 : pax.size > 0) throw neverWritten();
      const records = parsePax(
        await readContent(reader, size, maxPaxBytes),
        type === 'g' ? /^(comment)=([0-9a-f]{40,64})\n$/ : /^(path|linkpath)=(.*)\n$/s,
      );
      if (type === 'x') pax = records;
      continue;
    }
    const { path, link } = extendedBy(pax, plain);
    pax = new Map();
    // A tar reader may treat any path with a trailing slash as a directory.
    if (path.endsWith('/') !== (type === '5') || (link !== '') !== (type === '2')) throw neverWritten();
    if (type !== '0' && size !== 0) throw new NotOfGit('a directory or symlink has content');
    const name = checkedPath(path.replace(/\/$/, ''));
    if (files.has(name) || (type !== '5' && directories.has(name)))
      throw new NotOfGit('the archive has two entries of one name');
    if (type === '5') directories.add(name);
    else if (type === '2')
      files.set(name, { mode: '120000', id: blobId(algorithm, Buffer.from(link, 'latin1')) });
    else files.set(name, { mode: fileMode(mode), id: await hashContent(reader, size, algorithm) });
  }
  if (pax.size > 0) throw neverWritten();
  for await (const chunk of reader.rest()) {
    total += chunk.length;
    if (total > maxBytes) throw new NotOfGit(`the archive holds more than ${maxBytes} octets`);
    if (chunk.some((octet) => octet !== 0)) throw new NotOfGit('something follows the end of the archive');
  }
  return { files, directories };
}

function neverWritten(): NotOfGit {
  return new NotOfGit(
    'the archive has a header that `git archive` never writes; writ compares only archives made with `git archive`',
  );
}

/** True for a block with the magic of POSIX tar and the right checksum. */
function isHeader(header: Buffer): boolean {
  if (header.toString('latin1', 257, 262) !== 'ustar') return false;
  return Number.parseInt(header.toString('latin1', 148, 156), 8) === tarChecksum(header);
}

interface Header {
  readonly type: 'g' | 'x' | '0' | '2' | '5';
  readonly prefix: string;
  readonly name: string;
  readonly link: string;
  readonly mode: number;
  readonly size: number;
}

const gitHeader = new RegExp(
  [
    '^([^]{100})([0-7]{7})\\x00', // name, mode
    '0{7}\\x00'.repeat(2), // owner, group
    '([0-7]{11})\\x00[0-7]{11}\\x00[0-7]{7}\\x00', // size, time, checksum
    '([gx025])([^]{100})ustar\\x0000', // type, link, magic and version
    'root\\x00{28}'.repeat(2), // owner, group
    '0{7}\\x00'.repeat(2), // device
    '([^]{155})\\x00{12}$', // prefix of the name
  ].join(''),
);

/**
 * A header in the one form that git writes: NUL-padded texts, octal numbers of full width, owner root with number 0. No
 * two readers of tar can understand it differently.
 */
function readHeader(header: Buffer): Header {
  const fields = gitHeader.exec(header.toString('latin1'));
  if (fields === null) throw neverWritten();
  const [, name = '', mode = '', size = '', type = '', link = '', prefix = ''] = fields;
  return {
    type: type as Header['type'],
    prefix: withoutPadding(prefix),
    name: withoutPadding(name),
    link: withoutPadding(link),
    mode: Number.parseInt(mode, 8),
    size: Number.parseInt(size, 8),
  };
}

/**
 * Returns path and link of an entry. An extended header is accepted only for a value that is too long for the plain
 * header. Readers with and without pax support therefore see the same files.
 */
function extendedBy(
  pax: ReadonlyMap<string, string>,
  { prefix, name, link }: Pick<Header, 'prefix' | 'name' | 'link'>,
): { readonly path: string; readonly link: string } {
  const path = pax.get('path');
  const plainPath = prefix === '' ? name : `${prefix}/${name}`;
  const isPlain = path === undefined && splitPath(plainPath)?.join('\0') === `${prefix}\0${name}`;
  const isExtended =
    path !== undefined && splitPath(path) === undefined && /^[0-9a-f]{40,64}\.data$/.test(plainPath);
  const target = pax.get('linkpath');
  const isLinked =
    target === undefined || (target.length > 100 && /^see [0-9a-f]{40,64}\.paxheader$/.test(link));
  if (!(isPlain || isExtended) || !isLinked) throw neverWritten();
  return { path: path ?? plainPath, link: target ?? link };
}

/** A path as git divides it into the fields `prefix` (155 octets) and `name` (100); `undefined` if it does not fit. */
function splitPath(path: string): readonly [prefix: string, name: string] | undefined {
  if (path.length <= 100) return ['', path];
  const at = path.lastIndexOf('/', Math.min(path.length - (path.endsWith('/') ? 2 : 1), 155 - 1));
  const name = path.slice(at + 1);
  return at > 0 && name.length <= 100 ? [path.slice(0, at), name] : undefined;
}

function withoutPadding(field: string): string {
  const [text = '', ...rest] = field.split('\0');
  if (rest.some((part) => part !== '')) throw neverWritten();
  return text;
}

/** Executable or not: the other bits come from the umask of the process that made the archive. */
function fileMode(mode: number): '100644' | '100755' {
  if (mode > 0o777) throw new NotOfGit('a file has a mode that git does not keep');
  return (mode & 0o100) === 0 ? '100644' : '100755';
}

function checkedPath(path: string): string {
  if (path.length > maxPathBytes) throw new NotOfGit('a path of the archive is too long');
  if (path.split('/').some((part) => part === '' || part === '.' || part === '..') || path.includes('\0'))
    throw new NotOfGit('a path of the archive leads out of it');
  return path;
}

/** Records `LENGTH KEY=VALUE\n` of a pax header, all of the form that is `known`. */
function parsePax(bytes: Buffer, known: RegExp): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const [, digits = ''] = /^(\d{1,6}) /.exec(bytes.toString('latin1', at, at + 8)) ?? [];
    const end = at + Number(digits);
    const record = bytes.toString('latin1', at + digits.length + 1, end);
    const [, key = '', value = ''] = known.exec(record) ?? [];
    if (digits === '' || end > bytes.length || key === '' || records.has(key)) throw neverWritten();
    records.set(key, value);
    at = end;
  }
  return records;
}

async function readContent(reader: ByteReader, size: number, most: number): Promise<Buffer> {
  if (!(size <= most)) throw new NotOfGit('the archive has a header that is too long');
  const bytes = await reader.read(Math.ceil(size / block) * block);
  if (bytes.length < size) throw new NotOfGit('the archive ends early');
  return bytes.subarray(0, size);
}

async function hashContent(reader: ByteReader, size: number, algorithm: ObjectFormat): Promise<string> {
  const hash = objectHash(algorithm, 'blob', size);
  const read = await reader.consume(size, (chunk) => hash.update(chunk));
  const padding = (block - (size % block)) % block;
  if (read < size || (await reader.read(padding)).length < padding)
    throw new NotOfGit('the archive ends early');
  return hash.digest('hex');
}

function blobId(algorithm: ObjectFormat, content: Buffer): string {
  return objectHash(algorithm, 'blob', content.length).update(content).digest('hex');
}

/** A directory of the tree that is calculated. */
type Directory = Map<string, Directory | Entry>;

/** Compares the archive, below each directory that holds all of it, with the tree. */
/** Turns off every attribute with which `git archive` converts or leaves out files. */
const noAttributes = '* -text -eol -ident -filter -working-tree-encoding -export-subst -export-ignore';

function findTree({ files, directories }: Archive, tree: string, algorithm: ObjectFormat): ArchiveAnswer {
  const [first = ''] = files.keys();
  const parts = first.split('/').slice(0, -1);
  for (let depth = 0; depth <= parts.length; depth += 1) {
    const prefix = parts
      .slice(0, depth)
      .map((part) => `${part}/`)
      .join('');
    if (![...files.keys()].every((path) => path.startsWith(prefix))) break;
    const root: Directory = new Map();
    for (const [path, entry] of files) place(root, path.slice(prefix.length).split('/'), entry);
    const isWhole = [...directories].every((path) => isWithin(root, prefix, path));
    if (isWhole && treeId(root, algorithm) === tree)
      return { prefix: Buffer.from(prefix, 'latin1').toString('utf8'), files: files.size };
  }
  return {
    reason: `its ${files.size} files are not those of the sealed tree: some were added, changed or left out. Attributes do that (\`eol\`, \`ident\`, \`export-subst\`, \`export-ignore\`, filters), and submodules. To archive files as git stores them, write \`${noAttributes}\` to \`info/attributes\` of a bare clone and run \`git archive\` there`,
  };
}

function place(root: Directory, parts: readonly string[], entry: Entry): void {
  let at = root;
  for (const part of parts.slice(0, -1)) {
    const next = at.get(part) ?? new Map<string, Directory | Entry>();
    if (!(next instanceof Map)) throw new NotOfGit('the archive has a file and a directory of one name');
    at.set(part, next);
    at = next;
  }
  const name = parts.at(-1) ?? '';
  if (at.has(name)) throw new NotOfGit('the archive has a file and a directory of one name');
  at.set(name, entry);
}

/** True for a directory of the archive that holds a file, and for one that the prefix leads through. */
function isWithin(root: Directory, prefix: string, path: string): boolean {
  if (prefix.startsWith(`${path}/`)) return true;
  if (!path.startsWith(prefix)) return false;
  let at: Directory | Entry | undefined = root;
  for (const part of path.slice(prefix.length).split('/')) at = at instanceof Map ? at.get(part) : undefined;
  return at instanceof Map;
}

/** The id of a tree object: entries in the order of their bytes, directories as if a slash followed. */
function treeId(directory: Directory, algorithm: ObjectFormat): string {
  const entries = [...directory].map(([name, one]) => ({
    key: one instanceof Map ? `${name}/` : name,
    name,
    ...(one instanceof Map ? { mode: '40000', id: treeId(one, algorithm) } : one),
  }));
  entries.sort((a, b) => (a.key < b.key ? -1 : 1));
  const body = Buffer.concat(
    entries.map(({ name, mode, id }) =>
      Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(id, 'hex')]),
    ),
  );
  return objectHash(algorithm, 'tree', body.length).update(body).digest('hex');
}

/** Reads a stream of chunks by lengths; holds one chunk and the octets that the caller wants. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next octets, which stay; fewer where the stream ends. */
  async peek(length: number): Promise<Buffer> {
    const parts = [this.#held];
    let total = this.#held.length;
    while (total < length) {
      const { value, done } = await this.#chunks.next();
      if (done) break;
      parts.push(value);
      total += value.length;
    }
    if (parts.length > 1) this.#held = Buffer.concat(parts);
    return this.#held.subarray(0, length);
  }

  /** The next octets; fewer where the stream ends. */
  async read(length: number): Promise<Buffer> {
    const bytes = await this.peek(length);
    this.#held = this.#held.subarray(bytes.length);
    return bytes;
  }

  /** Passes the next octets on as they come, and returns how many there were. */
  async consume(length: number, take: (chunk: Buffer) => void): Promise<number> {
    let left = length;
    while (left > 0) {
      if (this.#held.length === 0 && (await this.peek(1)).length === 0) break;
      const chunk = this.#held.subarray(0, left);
      this.#held = this.#held.subarray(chunk.length);
      left -= chunk.length;
      take(chunk);
    }
    return length - left;
  }

  /** Everything that was not read yet. */
  async *rest(): AsyncGenerator<Buffer> {
    if (this.#held.length > 0) yield this.#held;
    this.#held = Buffer.alloc(0);
    for (;;) {
      const { value, done } = await this.#chunks.next();
      if (done) return;
      yield value;
    }
  }
}
