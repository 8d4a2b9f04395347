/** A text with everything that a model writes. */
export const sample = `# Title with **bold**

Some *text* with \`code\`, [a link](https://example.com/x), https://auto.example and <b>html</b> &amp; more.
Second line ~5 to ~10 ~~gone~~ 你好.

Numbered:
1. First
   - nested, with so many words that they wrap
     \`\`\`ts
     const a = 1;
     \`\`\`
2. Second

   with a paragraph
7. Third
- [ ] to do
- [x] done

> quote
> - with a list

| name | what it is | n |
|---|:-:|--:|
| one | two words that are long | 3 |
| 4 | 5 | 6 |

Under
=====
---
~~~python
def f(x):
    """doc
    more"""

    return 1
~~~
after
`;
