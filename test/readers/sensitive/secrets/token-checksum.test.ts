import t from 'tap';
import { checksumOf, tokenChecksum } from '../../../../readers/sensitive/secrets/weigh-secret.ts';

t.test('the checksum is CRC-32 in six base-62 digits', async (t) => {
  // CRC-32 of the check string "123456789" is 0xCBF43926 by the catalogue of CRC algorithms; thirty characters are what
  // a token has.
  t.equal(
    checksumOf('zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ'),
    '0mLq17',
    'the example in the description of the format',
  );
});

t.test('a token checksum is `valid`, `mismatch` or absent', async (t) => {
  const payload = 'q7Wx2Lm9Zt4Kc8Vb1Rn6Yp3Hd5Gs0J';
  const right = `${payload}${checksumOf(payload)}`;
  for (const prefix of ['ghp', 'gho', 'ghu', 'ghs', 'ghr', 'npm'])
    t.equal(tokenChecksum(`${prefix}_${right}`), 'valid');
  t.equal(tokenChecksum(`ghp_${right.slice(0, -1)}${right.endsWith('a') ? 'b' : 'a'}`), 'mismatch');
  t.equal(tokenChecksum(`glpat-${right}`), undefined);
  t.equal(tokenChecksum(`ghp_${right}x`), undefined);
});
