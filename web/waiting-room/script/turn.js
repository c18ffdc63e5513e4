/*
 * The person's turn: a sound and a notification if wanted, and the way into the site.
 */

let sound = null;

function beep(loudness) {
    [660, 880].forEach((pitch, i) => {
        const tone = sound.createOscillator(), gain = sound.createGain(), at = sound.currentTime + i * 0.18;
        tone.frequency.value = pitch;
        gain.gain.setValueAtTime(loudness, at);
        gain.gain.exponentialRampToValueAtTime(0.001, at + 0.3);
        tone.connect(gain);
        gain.connect(sound.destination);
        tone.start(at);
        tone.stop(at + 0.3);
    });
}

function wantAlert() {
    const show = () => {
        byId('notify').setAttribute('aria-pressed', 'true');
        writeKey('notify', window.Notification && Notification.permission === 'granted' ? 'notifyBoth' : 'notifySound');
    };
    if (!sound) {
        sound = new (window.AudioContext || window.webkitAudioContext)();
        beep(0.08);
    }
    show();
    if (window.Notification) {
        Notification.requestPermission(show);
    }
}

function alertPerson() {
    beep(0.3);
    try {
        new Notification(texts.readyTitle, {body: location.hostname, tag: 'sluice'}).onclick = () => focus();
    } catch (unsupported) {
        // Some phones show notifications of installed apps only: the sound must do.
    }
}

/* The gate admits this person: the page reloads its own address, once it has an answer from the network again. */
function open() {
    const wait = reloadWait(recall('reloads'), clock());
    stop(null);
    me.status = 'READY';
    if (wait < 0) {
        // Admitted again and again, and still here: the browser does not keep the pass.
        stop('COOKIES');
    } else {
        if (sound && !me.opening) {
            alertPerson();
        }
        me.opening = true;
        if (!me.unsafe) {
            plan('reload', Math.max(wait, sound ? 700 : 0));
        }
    }
    render();
}

function reload() {
    const now = clock(), record = recall('reloads'), row = record && now - record.at <= ROW_MS ? record.count : 0;
    remember('reloads', {count: row + 1, at: now});
    next = null;
    location.reload();
}
