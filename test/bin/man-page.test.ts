import { readFileSync } from 'node:fs';
import t from 'tap';
import { commands } from '../../bin/command-table.ts';
import { manPage } from '../../scripts/build/man-page.ts';

const page = manPage('1.2.3');
const escaped = (text: string): string => text.replaceAll('-', '\\-');

t.test('every command of the help is in the manual page, with its options and examples', async (t) => {
  t.equal(manPage('1.2.3'), page, 'the same bytes each time');
  t.match(page, /^\.TH WRIT 1 "" "writ 1\.2\.3" "writ"\n\.SH NAME\nwrit \\- /);
  const shown = commands.filter(({ hidden }) => hidden !== true);
  const sections = page.split(/^\.SS /m).slice(1);
  t.equal(sections.length, shown.length);
  for (const { name, options, examples } of shown) {
    const section = sections.find((one) =>
      new RegExp(`^writ ${name}(?: [[A-Z]|$)`, 'm').test(one.replaceAll('\\-', '-')),
    );
    for (const option of options) t.match(section, `\\-\\-${escaped(option.name)}`);
    t.equal(section?.split('Examples:\n')[1]?.match(/^\.TP$/gm)?.length, examples.length, name);
  }
});

t.test('no text of the table is a request of roff', async (t) => {
  const requests = page
    .split('\n')
    .filter((line) => /^[.']/.test(line) && !/^\.(?:TH .+|S[HS] .+|TP|PP)$/.test(line));
  t.strictSame(requests, []);
  t.match(page, /^[\n\x20-\x7e]*$/, 'it is ASCII');
  t.notMatch(page, /\\(?![-efu&[])/, 'it has no other escape');
});

t.test('npm installs the page', async (t) => {
  const { man, files } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  // npm links the pages of a list, and ignores a string.
  t.strictSame(man, ['dist/man/writ.1']);
  t.ok(files.includes('dist'));
});
