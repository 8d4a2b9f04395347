import { closure } from './closure.ts';
import type { HouseRule } from './rule-kinds.ts';

/** Everything that stands behind the door `verify.ts`, types included. */
const behindVerify: readonly RegExp[] = [
  /^verify\.ts$/,
  /^api\/(?:verify\/.+|schemas\/(?:verification-schema|shape)|json-data|place)\.ts$/,
  /^attest\/(?!artifacts\/).+\.ts$/,
  /^core\/(?:base|interfaces)\/.+\.ts$/,
  // The repository, the records in it, and what keeps them.
  /^(?:workspace\/git|store)\/.+\.ts$/,
  /^plugins\/(?:store\/.+|preset\/verify-repository)\.ts$/,
  /^core\/kernel\/slot\.ts$/,
  // Starting git.
  /^workspace\/process\/[a-z-]+\.ts$/,
  // Deciding again (`require: ['replay']`) from what is stored: pure, and loaded where it is asked for.
  /^(?:engine\/decide\/[a-z-]+|engine\/record\/decision-input)\.ts$/,
  // Comparing the candidates of approvals that carried over: loaded for such a run.
  /^workspace\/patch\/(?:carry-reader|normalise|patch-paths|undo)\.ts$/,
  /^engine\/config\/table-reader\.ts$/,
  /^readers\/(?:diff\/.+|documents\/date-time)\.ts$/,
  // Unpacking a tar.gz that is compared with a tree.
  /^readers\/documents\/archive\/(?:archive-fault|inflate|tar-checksum)\.ts$/,
];
/** Loaded for a certificate, a public log, a signature over a digest alone, carried approvals, or content in a bucket. */
const packages: readonly string[] = [
  '@sigstore/verify',
  '@sigstore/bundle',
  '@sigstore/core',
  '@noble/curves/nist.js',
  'smol-toml',
  // Content in a bucket.
  'undici',
  'aws4fetch',
];
const start = 'verify.ts';

/** Who verifies loads no engine: no kernel but the slot of stores, no gate, no pool, no schema validator. */
export const verifyClosure: HouseRule = {
  name: 'verifying needs no engine',
  check: ({ files, edges }) => {
    const reached = closure(start, edges);
    const behind = files.filter((file) => reached.has(file.path));
    return {
      matched: behind.length,
      violations: [
        ...behind
          .filter(({ path }) => !behindVerify.some((place) => place.test(path)))
          .map(({ path }) => `${path} stands behind \`${start}\``),
        ...behind.flatMap(({ path, specifiers }) =>
          specifiers
            .filter((one) => !/^(?:\.|node:)/.test(one) && !packages.includes(one))
            .map((one) => `${path} loads \`${one}\` behind \`${start}\``),
        ),
      ],
    };
  },
};
