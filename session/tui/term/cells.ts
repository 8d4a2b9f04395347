export { cellsOf } from '../../screen/cells.ts';
