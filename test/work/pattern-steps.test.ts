import t from 'tap';
import { seededRandom } from '../chance/seeded-random.ts';
import { toldSeed } from '../chance/told-seed.ts';
import { countedPattern } from './pattern-steps.ts';

const patterns = [
  /a+b|ba*?c/,
  /^(?:a|ab)*$/m,
  /(?<first>a|b)\k<first>+(c)?\2/,
  /(?<=a|bb)c(?!a)/,
  /(?<!\ba)b{1,2}?c{0,}/i,
  /\bA[^b\]\d]{2}\B/i,
  /(?:(a)|b)*\1c$/s,
  /[\u0041-c-]+(?=\d|$)/g,
  /\u{1f469}\p{Ll}|\x61\u0062./u,
  /(a*)*b/,
  /(?:){3}c|a{2}/y,
  /([ab]?)c\1?-/,
  /(?=(a+))a*b\1/,
];

t.test('the matcher finds the same matches as V8 in random texts', async (t) => {
  const random = seededRandom(toldSeed(t));
  const signs = ['a', 'a', 'b', 'B', 'c', '1', ' ', '\n', '-', ']', 'é', '👩'];
  let found = 0;
  for (const pattern of patterns) {
    const counted = countedPattern(pattern);
    const own = new RegExp(
      pattern.source,
      `${pattern.flags.replace(/[gy]/g, '')}${pattern.sticky ? 'y' : 'g'}`,
    );
    for (let round = 0; round < 300; round += 1) {
      const text = Array.from({ length: 8 }, () => signs[Math.floor(random() * signs.length)]).join('');
      own.lastIndex = 0;
      const match = own.exec(text);
      const { start, end } = counted.find(text, 0);
      const wanted = match === null ? [-1, -1] : [match.index, own.lastIndex];
      if (start !== wanted[0] || end !== wanted[1]) t.fail(`${pattern} in ${JSON.stringify(text)}`);
      else found += match === null ? 0 : 1;
    }
  }
  t.ok(found > 500, `${found} matches`);
});

t.test('the step count grows like the work of a backtracking engine', async (t) => {
  const stepsOf = (pattern: RegExp, text: string): number => countedPattern(pattern).find(text, 0).steps;
  const growth = (pattern: RegExp, piece: string): number =>
    stepsOf(pattern, piece.repeat(1200)) / stepsOf(pattern, piece.repeat(300));
  for (const pattern of [/x/, /\s+x/y, /(?<!\s)\s+x/, /^\s+$/, /\s{1,9}x/]) {
    const times = growth(pattern, ' ');
    t.ok(times < 4.5, `${pattern} is linear: ${times}`);
  }
  for (const pattern of [/\s+x/, /\s*$x/, /.*?x/]) {
    const times = growth(pattern, ' ');
    t.ok(times > 14, `${pattern} is quadratic: ${times}`);
  }
  const more = stepsOf(/(a*)*b/, 'a'.repeat(12)) / stepsOf(/(a*)*b/, 'a'.repeat(10));
  t.ok(more > 3, `twice for each sign: ${more}`);
});
