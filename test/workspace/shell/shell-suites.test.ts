import { readFileSync } from 'node:fs';
import t from 'tap';
import { guardCommand } from '../../../workspace/command-acl/acl.ts';
import { isVersionControl } from '../../../workspace/process/version-control.ts';

const load = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`./${name}.json`, import.meta.url), 'utf8'));
/** By why they are. */
const hostile = load('hostile') as Readonly<Record<string, readonly string[]>>;
const ordinary = load('ordinary') as readonly string[];

/** What a generous contract of a project allows, version control and every wrapper included. */
const words = `
  npm test|npm run|npm ci|npm install|npm start|npx|pnpm|yarn|bun|deno|node|make|gmake|cmake|ctest|cargo|go|gofmt|
  golangci-lint|pytest|python|python3|tox|nox|ruff|mypy|uv|poetry|hatch|pip|mvn|gradle|dotnet|bundle|rake|composer|
  phpunit|swift|mix|sbt|stack|ls|cat|head|tail|grep|sed|find|sort|uniq|diff|wc|jq|echo|printf|mkdir|cp|tar|test|[|cd|set|
  timeout|time|nice|nohup|env|sh|bash|dash|xargs|exit|read|sleep|tee|true|:|command|exec|setsid|stdbuf|ionice|export|
  gtimeout|gxargs|gfind|genv|gnice|rsync|split|fd|rg|man|zip|sudo|watch|parallel|eval|source|.|alias|trap|hash|
  git|git-lfs|hg|svn|jj|gh|tig`;
const allowCommands = words.split('|').map((one) => one.trim());
const toolAcl = {
  allow: [{ tool: 'workspace.command', actions: ['execute'], constraints: { allowCommands } }],
  deny: [],
};
const options = {
  variables: ['CI', 'REPORTS_DIR', 'WORKSPACE', 'RUN_ID'],
  withheld: { isWithheld: isVersionControl, instead: 'use the tool' },
};
const refusalOf = (line: string) => guardCommand(toolAcl, line, options).refusal;

t.test('hostile lines are refused', async (t) => {
  t.ok(Object.values(hostile).flat().length >= 300, 'there are enough of them');
  for (const [why, lines] of Object.entries(hostile))
    for (const line of lines) t.match(refusalOf(line), { rule: 'acl' }, `${why}: ${encodeURI(line)}`);
});

t.test('ordinary lines are allowed', async (t) => {
  t.ok(ordinary.length >= 100, 'there are enough of them');
  for (const line of ordinary) t.equal(refusalOf(line), undefined, encodeURI(line));
});

t.test('version control commands are refused to a model but allowed in checks', async (t) => {
  t.match(refusalOf('git status'), {
    detail: { reason: 'withheld', program: 'git' },
    message: /use the tool/,
  });
  t.equal(guardCommand(toolAcl, 'git status', { variables: [] }).refusal, undefined, 'a check may');
  for (const name of ['git', 'git-lfs', 'hg', 'jj', 'svnadmin']) t.ok(isVersionControl(name), name);
  for (const name of ['github', 'npm', 'slice', 'cm2', '-git', 'got2-x'])
    t.notOk(isVersionControl(name), name);
});
