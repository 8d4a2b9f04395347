import t from 'tap';
import { createAnchorSearch } from '../../../../readers/anchors/anchor-search.ts';
import { isSecretAt, reachOf } from '../../../../readers/sensitive/secrets/find-secrets.ts';
import { maxSecretBytes, secretPatterns } from '../../../../readers/sensitive/secrets/secret-patterns.ts';
import { secretAnchors } from '../../../../readers/sensitive/secrets/secret-places.ts';
import { anchorsOf } from '../../../../scripts/secret-tables/pattern-anchors.ts';
import { negatives, positives } from '../../../gates/secrets/labelled-set.ts';
import { longestMatch } from './longest-match.ts';

t.test('computes the longest match of a pattern from its parts', async (t) => {
  t.same(longestMatch(/ab?[cd]{2}(?:e|fgh){1,3}(?!i)/y), { behind: 14, before: 0 });
  t.same(longestMatch(/(?<=(?<!x)\d{8,10}):(?<name>A\]){2}/y), { behind: 5, before: 11 });
  t.equal(longestMatch(/a+/).behind, Number.POSITIVE_INFINITY);
});

t.test('no pattern reads further around its anchor than the reach allows', async (t) => {
  for (const pattern of secretPatterns) {
    const { rule, form } = pattern;
    const { behind, before } = longestMatch(form);
    for (const anchor of anchorsOf(pattern)) {
      const reach = reachOf(Buffer.from(anchor.padEnd(4, 'x'), 'latin1').readInt32LE());
      // What has no end is read as far as anything is.
      if (Math.min(maxSecretBytes, behind + 1) > reach.behind || before + 76 > reach.before)
        t.fail(`${rule}, ${anchor}: ${before} before, ${behind} behind`);
    }
  }
  t.pass();
});

t.test('text within the reach of an anchor gives the same result as the whole text', async (t) => {
  const search = createAnchorSearch(secretAnchors().map((anchor) => [undefined, anchor]));
  const putty = `PuTTY-User-Key-File-3: ssh-rsa\n${`${'Qw7rTyPs'.repeat(8)}\n`.repeat(150)}Private-MAC: ${'5f'.repeat(20)}\n`;
  let places = 0;
  let secrets = 0;
  for (const { text, about } of [...positives(), ...negatives(), { text: putty, about: 'PuTTY' }]) {
    const whole = `${'x = 1;\n'.repeat(400)}${text}${'y = 2;\n'.repeat(1500)}`;
    const bytes = Buffer.from(whole);
    const latin1 = bytes.toString('latin1');
    search.scan(bytes, 0, bytes.length, (_, at) => {
      places += 1;
      const { before, behind } = reachOf(bytes.readInt32LE(at));
      const from = Math.max(0, at - before);
      const window = latin1.slice(from, at + behind);
      for (const back of [0, 1]) {
        const expected = isSecretAt(latin1, at - back);
        if (expected) secrets += 1;
        if (isSecretAt(window, at - from - back) !== expected)
          t.fail(`${about}: ${JSON.stringify(latin1.slice(at, at + 40))}`);
      }
      return false;
    });
  }
  t.ok(places > 1000 && secrets > 400, `${places} places, ${secrets} secrets`);
});
