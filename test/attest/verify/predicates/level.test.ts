import t from 'tap';
import { hasLevel, isMistakenLevel, levelOf } from '../../../../attest/verify/predicates/summary.ts';

t.test('`levelOf` knows exactly the SLSA level names, with track and rank', (t) => {
  for (const [name, level] of [
    ['SLSA_BUILD_LEVEL_0', { track: 'BUILD', rank: 0 }],
    ['SLSA_BUILD_LEVEL_3', { track: 'BUILD', rank: 3 }],
    ['SLSA_BUILD_LEVEL_4', undefined],
    ['SLSA_SOURCE_LEVEL_4', { track: 'SOURCE', rank: 4 }],
    ['SLSA_SOURCE_LEVEL_5', undefined],
    ['SLSA_BUILD_LEVEL_UNEVALUATED', { track: 'BUILD' }],
    ['SLSA_SOURCE_TWO_PARTY_REVIEWED', { track: 'SLSA_SOURCE_TWO_PARTY_REVIEWED' }],
    ['SLSA_SOURCE_TWO_PARTY', undefined],
    ['SLSA_constructor_LEVEL_1', undefined],
    ['slsa_build_level_3', undefined],
    ['', undefined],
  ] as const)
    t.strictSame(levelOf(name), level, name);
  t.end();
});

t.test('`isMistakenLevel` flags misspelled level names and accepts third-party names', (t) => {
  for (const name of ['slsa-build-level-3', 'SLSA_BUILD_LEVEL_9', 'SLSA_OWN', 'failed', 'SlsaSourceLevel1'])
    t.equal(isMistakenLevel(name), true, name);
  for (const name of [
    'FAILED',
    'SLSA_BUILD_LEVEL_1',
    'SLSA_SOURCE_TWO_PARTY_REVIEWED',
    'ACME_REVIEWED',
    'slsa',
  ])
    t.equal(isMistakenLevel(name), false, name);
  t.end();
});

t.test('a level is satisfied by itself or by a higher level of its track', (t) => {
  for (const [claimed, asked, expected] of [
    [['SLSA_BUILD_LEVEL_3'], 'SLSA_BUILD_LEVEL_2', true],
    [['SLSA_BUILD_LEVEL_2'], 'SLSA_BUILD_LEVEL_2', true],
    [['SLSA_BUILD_LEVEL_1'], 'SLSA_BUILD_LEVEL_2', false],
    [['SLSA_SOURCE_LEVEL_3'], 'SLSA_BUILD_LEVEL_2', false],
    [['SLSA_BUILD_LEVEL_UNEVALUATED'], 'SLSA_BUILD_LEVEL_0', false],
    [['SLSA_SOURCE_LEVEL_4'], 'SLSA_SOURCE_TWO_PARTY_REVIEWED', false],
    [['SLSA_SOURCE_TWO_PARTY_REVIEWED'], 'SLSA_SOURCE_TWO_PARTY_REVIEWED', true],
    [['ACME_REVIEWED'], 'ACME_REVIEWED', true],
    [[], 'SLSA_BUILD_LEVEL_0', false],
  ] as const)
    t.equal(hasLevel(claimed, asked), expected, `${claimed} for ${asked}`);
  t.end();
});
