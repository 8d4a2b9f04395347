/** What lets a model work on the sample: files of its scope, and the tests. */
export const modelRights = {
  toolAcl: {
    allow: [
      { tool: 'workspace.fs', actions: ['read', 'write', 'delete'], constraints: {} },
      { tool: 'workspace.search', actions: ['search'], constraints: {} },
      {
        tool: 'workspace.command',
        actions: ['execute'],
        constraints: { allowCommands: ['node', 'echo', 'cat'] },
      },
    ],
  },
};

/** What the sample's contract asks for. */
export const fixOfPrice = `*** Begin Patch
*** Update File: src/price.js
@@
-  return count * cents + 1;
+  return count * cents;
*** Update File: test/price.test.js
@@
   assert.ok(price(0, 100) < 2);
 });
+
+test('two cost twice as much as one', () => {
+  assert.equal(price(2, 100), 200);
+});
*** End Patch`;
