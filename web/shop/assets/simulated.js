/*
 * Shows that no real money is charged, if scripts/run says so: only it knows the payment provider. language.js
 * and api.js come before this.
 */
(function (shop) {
    'use strict';

    async function markSimulator() {
        try {
            const answer = await shop.persist(() => {}, 'GET', '/shop/payment.json');
            document.getElementById('simulated').hidden = answer.status !== 200 || answer.body.simulated !== true;
        } catch (error) {
            if (!(error instanceof shop.Lost))
                throw error;
            addEventListener('online', markSimulator, { once: true });
        }
    }

    shop.ready.then(markSimulator);
}(window.shop));
