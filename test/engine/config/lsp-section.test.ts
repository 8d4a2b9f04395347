import t from 'tap';
import { sealingForms } from '../../../attest/attestor/sealing-forms.ts';
import { WritError } from '../../../core/base/errors.ts';
import { languageServers, parseConfig } from '../../../engine/config/config.ts';

const lspOf = (text: string) => parseConfig(Buffer.from(text), sealingForms).lsp;

function pathsOf(text: string): readonly string[] {
  try {
    lspOf(text);
  } catch (fault) {
    if (!(fault instanceof WritError)) throw fault;
    return (fault.detail.issues as { path: string }[]).map(({ path }) => path);
  }
  return [];
}

t.test('without an `[lsp]` table the built-in language servers apply', async (t) => {
  t.strictSame([...lspOf('')], Object.entries(languageServers));
});

t.test('`[lsp]` tables change, add and disable language servers', async (t) => {
  const lsp = lspOf(`
    [lsp.typescript]
    command = ["own-server", "--stdio"]
    settings = { own = { deep = [1] } }
    [lsp.go]
    files = [".go", ".tmpl"]
    [lsp.ruby]
    command = ["ruby-lsp"]
    files = [".rb"]
    project = ["Gemfile.lock"]
    initialization = { a = true }
    [lsp.rust]
    enabled = false
  `);
  t.match(lsp.get('typescript'), {
    commands: [{ command: ['own-server', '--stdio'] }],
    files: languageServers.typescript?.files ?? {},
    settings: { own: { deep: [1] } },
    loads: ['node_modules'],
  });
  t.equal(lsp.get('typescript')?.commands.length, 1);
  t.strictSame(lsp.get('go')?.files, { '.go': 'go', '.tmpl': 'go' });
  t.match(lsp.get('go')?.commands, languageServers.go?.commands);
  t.strictSame(lsp.get('ruby'), {
    commands: [{ command: ['ruby-lsp'] }],
    files: { '.rb': 'ruby' },
    project: ['Gemfile.lock'],
    initialization: { a: true },
  });
  t.notOk(lsp.has('rust'));
  t.ok(lsp.has('cpp'));
});

t.test('refuses malformed language server tables', async (t) => {
  t.strictSame(pathsOf('[lsp.go]\ncommand = ["./gopls"]'), ['lsp.go.command']);
  t.strictSame(pathsOf('[lsp.go]\ncommand = ["/usr/bin/gopls"]'), ['lsp.go.command']);
  t.strictSame(pathsOf('[lsp.ruby]'), ['lsp.ruby.command', 'lsp.ruby.files']);
  t.strictSame(pathsOf('[lsp.go]\nfiles = ["go"]'), ['lsp.go.files']);
  t.strictSame(pathsOf('[lsp.go]\nproject = ["a/go.mod"]'), ['lsp.go.project']);
  t.strictSame(pathsOf('[lsp.go]\ncomand = ["gopls"]'), ['lsp.go.comand']);
  t.strictSame(pathsOf('[lsp.Go]\nenabled = false'), ['lsp.Go']);
  const many = Array.from({ length: 40 }, (_, at) => `[lsp.a${at}]\ncommand = ["a"]\nfiles = [".a${at}"]`);
  t.strictSame(pathsOf(many.join('\n')), ['lsp']);
});
