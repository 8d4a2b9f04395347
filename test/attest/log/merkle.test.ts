import { createHash } from 'node:crypto';
import t from 'tap';
import {
  consistencyRanges,
  emptyRoot,
  inclusionRanges,
  isConsistent,
  leafHash,
  nodeHash,
  rangeHash,
  rootFromInclusion,
  type SubtreeReader,
} from '../../../attest/log/merkle.ts';
import { long } from '../../rooms/long.ts';

// The eight leaves and the roots of RFC 6962 implementations (certificate-transparency test data).
const leaves = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map((hex) => Buffer.from(hex, 'hex'));
const roots = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

// Written from the recursive definition in RFC 6962, 2.1, independently of the code under test.
function referenceRoot(entries: readonly Buffer[]): Buffer {
  const sha = (...parts: Buffer[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();
  const [first] = entries;
  if (first === undefined) return sha();
  if (entries.length === 1) return sha(Buffer.of(0), first);
  let k = 1;
  while (k * 2 < entries.length) k *= 2;
  return sha(Buffer.of(1), referenceRoot(entries.slice(0, k)), referenceRoot(entries.slice(k)));
}

function subtreesOf(entries: readonly Buffer[]): SubtreeReader {
  const known = new Map<string, Promise<Buffer>>();
  async function hashOf(height: number, index: number): Promise<Buffer> {
    const entry = entries[index];
    if (height > 0) return nodeHash(await read(height - 1, index * 2), await read(height - 1, index * 2 + 1));
    if (entry === undefined) throw new Error('read past the end');
    return leafHash(entry);
  }
  const read: SubtreeReader = (height, index) => {
    const key = `${height}/${index}`;
    const hash = known.get(key) ?? hashOf(height, index);
    known.set(key, hash);
    return hash;
  };
  return read;
}

t.test('tree roots match the RFC 6962 test data', async (t) => {
  t.equal(emptyRoot.toString('hex'), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  for (const [n, root] of roots.entries()) {
    const hash = await rangeHash({ start: 0, end: n + 1 }, subtreesOf(leaves));
    t.equal(hash.toString('hex'), root, `first ${n + 1} leaves`);
  }
});

t.test('the audit path matches the RFC 6962 test data', async (t) => {
  const path = await Promise.all(inclusionRanges(5, 8).map((range) => rangeHash(range, subtreesOf(leaves))));
  t.same(
    path.map((hash) => hash.toString('hex')),
    [
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  );
});

const most = 130;
const many = Array.from({ length: most }, (_, n) => Buffer.from(`entry ${n}`));

t.test('every inclusion proof up to 130 entries leads to its root and to no other', async (t) => {
  const subtree = subtreesOf(many);
  let proofs = 0;
  for (let size = 1; size <= most; size += 1) {
    const root = referenceRoot(many.slice(0, size));
    for (let index = 0; index < size; index += 1) {
      const leaf = await subtree(0, index);
      const path = await Promise.all(inclusionRanges(index, size).map((range) => rangeHash(range, subtree)));
      const good = rootFromInclusion(index, size, leaf, path)?.equals(root) === true;
      const longer = rootFromInclusion(index, size, leaf, [...path, leaf]);
      const shorter = path.length > 0 ? rootFromInclusion(index, size, leaf, path.slice(0, -1)) : undefined;
      const elsewhere = index > 0 && rootFromInclusion(index - 1, size, leaf, path)?.equals(root) === true;
      if (!good || longer !== undefined || shorter !== undefined || elsewhere) t.fail(`${index} of ${size}`);
      proofs += 1;
    }
  }
  t.equal(proofs, (most * (most + 1)) / 2);
  t.equal(rootFromInclusion(3, 3, leafHash(Buffer.of(1)), []), undefined, 'an index outside the tree');
  t.equal(rootFromInclusion(1, 1, leafHash(Buffer.of(1)), []), undefined, 'an index just outside the tree');
  t.equal(rootFromInclusion(0, 2, leafHash(Buffer.of(1)), [Buffer.alloc(31)]), undefined, 'a short hash');
});

long('every consistency proof up to 130 entries is accepted, and refused against another root', async (t) => {
  const subtree = subtreesOf(many);
  const heads = Array.from({ length: most + 1 }, (_, size) => ({
    size,
    root: referenceRoot(many.slice(0, size)),
  }));
  const other = leafHash(Buffer.from('other'));
  let proofs = 0;
  for (const to of heads) {
    for (const from of heads.slice(0, to.size + 1)) {
      const proof = await Promise.all(
        consistencyRanges(from.size, to.size).map((range) => rangeHash(range, subtree)),
      );
      const good = isConsistent(from, to, proof);
      const forkedOld = isConsistent({ ...from, root: other }, to, proof);
      // From the empty tree everything follows; there is nothing to fork.
      const forkedNew = from.size > 0 && isConsistent(from, { ...to, root: other }, proof);
      const longer = isConsistent(from, to, [...proof, other]);
      if (!good || forkedOld || forkedNew || longer) t.fail(`${from.size} to ${to.size}`);
      proofs += 1;
    }
  }
  t.equal(proofs, ((most + 1) * (most + 2)) / 2);
  const [, one, two] = heads;
  t.notOk(one && two && isConsistent(two, one, []), 'a log that shrank');
  t.notOk(one && isConsistent({ ...one, size: 2 }, one, []), 'a log that shrank and kept its root');
});
