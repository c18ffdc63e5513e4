'use strict';
// The waiting page's script: its parts, and the whole as the gate puts it together (fcgi-app/gate/page/page_files.c).
const fs = require('node:fs');
const path = require('node:path');

const FOLDER = path.join(__dirname, '../../web/waiting-room');
const INCLUDE = /^ *\/\/@include (\S+)$/gm;
const read = (name) => fs.readFileSync(path.join(FOLDER, name), 'utf8');

exports.part = (name) => read(`script/${name}.js`);
exports.names = Array.from(exports.part('main').matchAll(INCLUDE), (line) => line[1]);
exports.whole = exports.part('main').replace(INCLUDE, (line, name) => exports.part(name));
