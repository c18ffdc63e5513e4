'use strict';
// The first half of the waiting page's script, which only decides: its functions by their names.
const fs = require('node:fs');
const path = require('node:path');

const script = fs.readFileSync(path.join(__dirname, '../../web/waiting-room/page.js'), 'utf8');
const [deciding, page] = script.slice(script.indexOf("'use strict'")).split('/* ---- The page: what is known ---- */');
if (!page) {
    throw new Error('page.js has no second half');
}
const names = deciding.match(/^function \w+/gm).map((line) => line.slice(9));
module.exports = new Function(`${deciding}; return {${names}};`)();
