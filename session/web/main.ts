/* Starts the page. */
import { render } from 'preact';
import { loadHighlighting } from '../screen/highlighter.ts';
import { openPage } from './page/open-page.ts';
import { App } from './view/app.ts';
import { h } from './view/parts.ts';

const root = document.getElementById('page');
if (root !== null) {
  root.textContent = '';
  void loadHighlighting();
  openPage((page) => render(h(App, { page }), root));
}
