'use strict';
// The parts of the waiting page's script that only decide: their functions by their names.
const {part} = require('./waiting_script.js');

const deciding = ['decisions', 'words', 'proof'].map(part).join('\n');
const names = deciding.match(/^function \w+/gm).map((line) => line.slice(9));
module.exports = new Function(`'use strict';\n${deciding}; return {${names}};`)();
