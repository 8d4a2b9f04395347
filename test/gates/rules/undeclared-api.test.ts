import t from 'tap';
import { judge } from '../../../gates/rules/undeclared-api.ts';
import { gateTester, sampleSpecWith, toRuleInput } from '../../../testing.ts';
import { findRule } from './find-rule.ts';

/** A contract that lets the trigger fire and declares these endpoints. */
const declaring = (...apis: readonly string[]) =>
  sampleSpecWith({
    intent: { touchHints: { apis } },
    execution: { replan: { triggers: ['unknown-api'] } },
  });
const spec = declaring('GET /v1/users/{id}', 'https://pay.example/charges');

const calls: readonly (readonly [path: string, line: string, endpoint: string])[] = [
  ['a.js', "await fetch('https://mail.example/send');", 'https://mail.example/send'],
  ['a.ts', `await fetch(\`\${base}/v2/users\`, { headers });`, '/v2/users'],
  ['a.ts', "axios({ method: 'post', url: '/v2/users' });", '/v2/users'],
  ['a.js', "const one = await fetch(new Request('/v2/users'));", '/v2/users'],
  ['a.js', "client.get('https://mail.example/send')", 'https://mail.example/send'],
  ['a.py', "requests.post('https://mail.example/send', json=x)", 'https://mail.example/send'],
  ['a.py', "httpx.get(f'{base}/v2/users')", '/v2/users'],
  ['a.go', 'http.Get("https://mail.example/send")', 'https://mail.example/send'],
  ['A.java', 'HttpRequest.newBuilder(URI.create("https://mail.example/send"))', 'https://mail.example/send'],
  ['a.rb', "Net::HTTP.get(URI('https://mail.example/send'))", 'https://mail.example/send'],
  ['a.php', "<?php $http->request('GET', 'https://mail.example/send');", 'https://mail.example/send'],
  ['a.cs', 'await httpClient.GetStringAsync("/v2/users");', '/v2/users'],
  ['a.rs', 'reqwest::get("https://mail.example/send")', 'https://mail.example/send'],
  ['a.js', "fetch('https://pay.example/charges/refunds')", 'https://pay.example/charges/refunds'],
  ['a.js', "fetch('https://other.example/charges')", 'https://other.example/charges'],
];

const silent: readonly (readonly [path: string, line: string])[] = [
  ['a.js', "fetch('/v1/users/7?full=1');"],
  ['a.ts', `fetch(\`/v1/users/\${id}\`);`],
  ['a.ts', `fetch(\`\${base}/v1/users/\${id}/\`);`],
  ['a.js', "fetch('https://here.example/api/v1/users/7');"],
  ['a.js', "axios.post('https://PAY.example/charges');"],
  ['a.js', "// fetch('https://mail.example/send')"],
  ['a.js', 'const text = "fetch(\'https://mail.example/send\')";'],
  ['a.js', "app.get('/v2/users', answer);"],
  ['a.js', "const docs = 'https://mail.example/send';"],
  ['a.js', "open(new URL('https://mail.example/'), 'x'); path.join('/v2/users');"],
  ['a.js', 'fetch(address);'],
  ['a.py', "# requests.get('https://mail.example/send')"],
  ['a.md', "fetch('https://mail.example/send')"],
];

await gateTester(t, findRule('undeclared-api'), {
  valid: [
    ...silent.map(([path, line]) => ({ name: line, spec, files: { [path]: { candidate: `${line}\n` } } })),
    {
      name: 'what the file called before, on another line',
      spec,
      files: {
        'a.js': {
          base: "const a = fetch('https://mail.example/send');\n",
          candidate: "async () => {\n  const a = await fetch('https://mail.example/send');\n}\n",
        },
      },
    },
    {
      name: 'a line that the change leaves alone',
      spec,
      files: { 'a.js': { base: "fetch('/v2/a');\nb\n", candidate: "fetch('/v2/a');\nc\n" } },
    },
  ],
  invalid: [
    ...calls.map(([path, line, endpoint]) => ({
      name: line,
      spec,
      files: { [path]: { base: 'x\n', candidate: `${path === 'a.php' ? '' : 'x\n'}${line}\n` } },
      expect: [{ rule: 'undeclared-api', path, detail: { endpoint } }],
    })),
    {
      name: 'a contract that declares nothing',
      spec: declaring(),
      files: { 'a.js': { candidate: "fetch('/v1/users/7');\n" } },
      expect: [{ rule: 'undeclared-api', line: 1 }],
    },
  ],
});

t.test('the rule applies only where the spec enables its trigger', async (t) => {
  const { appliesTo } = findRule('undeclared-api');
  t.equal(appliesTo?.(spec), true);
  t.equal(appliesTo?.(sampleSpecWith({})), false);
});

t.test('finds undeclared endpoints from the hunks alone and lists at most 100', async (t) => {
  for (const [path, line, endpoint] of calls) {
    const files = { [path]: { base: 'x\n', candidate: `x\n${line}\n` } };
    const input = { ...toRuleInput({ name: '', spec, files }), files: {} };
    t.match(await judge(input), [{ detail: { endpoint } }], line);
  }
  const candidate = "fetch('/v2/users');\n".repeat(20_000) + 'fetch(('.repeat(20_000);
  const found = await judge(toRuleInput({ name: '', spec, files: { 'a.js': { candidate } } }));
  t.equal(found.length, 100);
});
