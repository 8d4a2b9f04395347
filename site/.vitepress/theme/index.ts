/* The default theme without its web fonts, with the colours of `style.css`. */
import theme from 'vitepress/theme-without-fonts';
import './style.css';

export default theme;
