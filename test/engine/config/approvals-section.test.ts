import t from 'tap';
import { sealingForms } from '../../../attest/attestor/sealing-forms.ts';
import { WritError } from '../../../core/base/errors.ts';
import { parseConfig } from '../../../engine/config/config.ts';
import { carriesApprovals } from '../../../engine/config/table-reader.ts';

const read = (text: string) => parseConfig(Buffer.from(text), sealingForms).approvals;

function refusedAt(text: string): readonly string[] {
  try {
    read(text);
  } catch (error) {
    if (!(error instanceof WritError) || error.code !== 'CONFIG_INVALID') throw error;
    return (error.detail.issues as readonly { path: string }[]).map(({ path }) => path);
  }
  return [];
}

t.test('without an `[approvals]` section there are no groups', async (t) => {
  t.strictSame(parseConfig(undefined, sealingForms).approvals, {
    inProcess: false,
    carry: 'none',
    groups: {},
  });
  t.strictSame(read('[approvals]'), { inProcess: false, carry: 'none', groups: {} });
});

t.test('approvals carry over only with `carry = "equivalent"` in a valid section', async (t) => {
  t.equal(read('[approvals]\ncarry = "equivalent"').carry, 'equivalent');
  t.equal(read('[approvals]\ncarry = "none"').carry, 'none');
  for (const value of ['"same"', '"Equivalent"', 'true', '""'])
    t.strictSame(refusedAt(`[approvals]\ncarry = ${value}`), ['approvals.carry'], value);
  const carries = (text: string) => carriesApprovals(Buffer.from(text));
  t.ok(carries('[approvals]\ncarry = "equivalent"\n[log]\nmirror = "git"'));
  t.notOk(carriesApprovals(undefined));
  for (const text of [
    '',
    '[approvals]\ncarry = "none"',
    '[approvals]\ncarry = "equivalent"\nmore = 1',
    '[approval]\ncarry = "equivalent"',
    'carry = "equivalent"',
    '[approvals]\ncarry = "equivalent',
    '# [approvals]\n# carry = "equivalent"',
  ])
    t.notOk(carries(text), text);
});

t.test('approval groups are lists of principals', async (t) => {
  const text =
    '[approvals.groups]\nrelease = ["ana@x.example", "Ben Lee <ben@x.example>"]\nsecurity-2 = ["cleo"]';
  t.strictSame(read(text), {
    inProcess: false,
    carry: 'none',
    groups: { release: ['ana@x.example', 'Ben Lee <ben@x.example>'], 'security-2': ['cleo'] },
  });
});

t.test('refuses approval settings that are unknown, empty or ambiguous', async (t) => {
  t.strictSame(refusedAt('[approvals]\nminimum = 2'), ['approvals.minimum']);
  t.strictSame(refusedAt('[approvals.groups]\nrelease = []'), ['approvals.groups.release']);
  t.strictSame(refusedAt('[approvals.groups]\nrelease = ["ana", "*@x.example"]'), [
    'approvals.groups.release[1]',
  ]);
  t.strictSame(refusedAt('[approvals.groups]\nrelease = ["ana,ben"]'), ['approvals.groups.release[0]']);
  t.strictSame(refusedAt('[approvals.groups]\n"two words" = ["ana"]'), ['approvals.groups."two words"']);
  t.ok(refusedAt('[approvals.groups]\nrelease = "ana"').includes('approvals.groups.release'));
  t.ok(refusedAt('[approvals]\ngroups = 1').includes('approvals.groups'));
});
