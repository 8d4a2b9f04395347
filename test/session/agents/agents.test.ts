import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  embeddedAgents,
  findAgent,
  findPrimaryAgent,
  maxAgentBytes,
  parseAgent,
  primaryAgents,
} from '../../../session/agents.ts';

const sound = 'description = "d"\ninstructions = """\nOne.\n\tTwo.\n"""\nprimary = true\n';

function scene(t: import('tap').Test) {
  const root = t.testdir({ project: {}, user: {} });
  const places = {
    project: { root: join(root, 'project'), parts: ['.writ', 'agents'] },
    user: { root: join(root, 'user'), parts: ['agents'] },
  };
  const directory = { project: join(root, 'project', '.writ', 'agents'), user: join(root, 'user', 'agents') };
  const put = (tier: 'project' | 'user', name: string, text: string): void => {
    mkdirSync(directory[tier], { recursive: true });
    writeFileSync(join(directory[tier], name), text);
  };
  return { places, directory, put };
}

t.test('a project profile overrides a user profile, which overrides an embedded one', async (t) => {
  const { places, put } = scene(t);
  t.equal(findAgent('coder', places).tier, 'embedded');
  put('user', 'coder.toml', sound);
  t.equal(findAgent('coder', places).tier, 'user');
  put('project', 'coder.toml', sound);
  t.match(findAgent('coder', places), {
    tier: 'project',
    name: 'coder',
    instructions: 'One.\n\tTwo.',
    context: 'any',
    tools: 'all',
    binding: undefined,
  });
  put('project', 'Not-A-Name.toml', sound);
  put('project', 'broken.toml', 'x');
  t.strictSame(primaryAgents(places), ['coder', 'planner', 'reviewer']);
});

t.test('a project profile gets no rights beyond the profile that it overrides', async (t) => {
  const { places, put } = scene(t);
  put('project', 'reviewer.toml', sound);
  t.match(findAgent('reviewer', places), {
    tier: 'project',
    instructions: 'One.\n\tTwo.',
    context: 'review',
    tools: 'read',
  });
  put('project', 'planner.toml', `${sound}context = "dev"\ntools = "all"`);
  t.match(findAgent('planner', places), { context: 'dev', tools: 'read' });
  put('project', 'coder.toml', `${sound}context = "research"\ntools = "read"`);
  t.match(findAgent('coder', places), { context: 'research', tools: 'read' }, 'stricter it may be');
  put('user', 'mine.toml', `${sound}context = "research"\ntools = "read"`);
  put('project', 'mine.toml', `${sound}context = "review"`);
  t.match(findAgent('mine', places), { tier: 'project', context: 'review', tools: 'read' });
  put('user', 'reviewer.toml', sound);
  t.match(findAgent('reviewer', places), { context: 'any', tools: 'all' }, 'the user’s word is the user’s');
});

t.test('an unknown profile is refused, and a profile for agents only is not primary', async (t) => {
  const { places, put } = scene(t);
  put('project', '../beside.toml', sound);
  for (const name of [
    'nobody',
    '../beside',
    '',
    '..',
    '../coder',
    'a/b',
    'Coder',
    '-a',
    'con\0',
    'x'.repeat(100),
  ])
    t.throws(() => findAgent(name, places), { code: 'AGENT_UNKNOWN' }, JSON.stringify(name));
  t.throws(() => findAgent('codr', places), { code: 'AGENT_UNKNOWN', hints: ['did you mean `coder`?'] });
  t.equal(findAgent('explorer', places).primary, false);
  t.throws(() => findPrimaryAgent('explorer', places), {
    code: 'AGENT_UNKNOWN',
    exitCode: 129,
    detail: { expected: ['coder', 'planner', 'reviewer'] },
  });
});

t.test('refuses a malformed profile and keys that would loosen permissions', async (t) => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ['', /`description`: it is missing/],
    ['description = "d"', /`instructions`: it is missing/],
    [`${sound}approval_policy = "allow-all"`, /unknown key/],
    [`${sound}network_access = "allow"`, /unknown key/],
    [`${sound}name = "x"`, /unknown key/],
    [`${sound}context = "none"`, /expected any, dev, review, research/],
    [`${sound}tools = "write"`, /expected all, read/],
    [`${sound}model = "gpt"`, /provider\/model/],
    [`${sound}model = "o/m@"`, /provider\/model/],
    [`${sound}model = "o/m n"`, /provider\/model/],
    ['description = "a\\nb"\ninstructions = "i"', /control characters/],
    ['description = "d"\ninstructions = "i\\u001b[2J"', /control characters/],
    [`description = "d"\ninstructions = "${'i'.repeat(32 * 1024 + 1)}"`, /1 to 32768 characters/],
    [`# ${'x'.repeat(maxAgentBytes)}`, /at most 65536 bytes/],
    ['[', /line 1/],
  ];
  for (const [text, why] of rows)
    t.throws(
      () => parseAgent(Buffer.from(text), 'a', 'project'),
      { code: 'AGENT_INVALID', message: why },
      text.slice(0, 60),
    );
});

t.test('refuses a profile that is a symlink, a special file, too large or behind a symlink', async (t) => {
  const { places, directory, put } = scene(t);
  put('user', 'real.toml', sound);
  mkdirSync(directory.project, { recursive: true });
  symlinkSync(join(directory.user, 'real.toml'), join(directory.project, 'link.toml'));
  mkdirSync(join(directory.project, 'folder.toml'));
  execFileSync('mkfifo', [join(directory.project, 'pipe.toml')]);
  put('project', 'large.toml', 'x'.repeat(maxAgentBytes + 1));
  for (const name of ['link', 'folder', 'pipe', 'large'])
    t.throws(() => findAgent(name, places), { code: 'AGENT_INVALID', exitCode: 129 }, name);
  const linked = t.testdir({ elsewhere: { agents: { 'a.toml': sound } }, root: {} });
  symlinkSync(join(linked, 'elsewhere'), join(linked, 'root', '.writ'));
  const through = { ...places, project: { root: join(linked, 'root'), parts: ['.writ', 'agents'] } };
  t.throws(() => findAgent('a', through), { code: 'AGENT_INVALID' });
});

t.test('embedded profiles parse as profile files', async (t) => {
  for (const { name, tier, description, instructions, primary, context, tools } of embeddedAgents) {
    const said = { description, instructions, primary, context, tools };
    const text = Object.entries(said).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
    t.strictSame(parseAgent(Buffer.from(text.join('\n')), name, tier), { name, tier, ...said });
  }
});
