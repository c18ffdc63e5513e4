#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/pem.h>
#include <openssl/x509.h>

#include "lib/admission/gate/ip_network.h"
#include "sluicectl/doctor/doctor.h"
#include "sluicectl/doctor/nginx_config.h"
#include "sluicectl/doctor/program_output.h"

enum {
    SECONDS_MOST = 20,
    OLDEST_MINOR = 22, /* of nginx 1.x */
    BACKLOG_USUAL = 511,
    CONNECTIONS_USUAL = 512,
    NETWORKS_MAX = 256,
    CERTIFICATES_MAX = 32,
    CERTIFICATE_WARN_DAYS = 14,
    PLACE_MAX = 4096
};

/** The parts of an nginx configuration that concern Sluice. */
struct site {
    bool has_upstream;       /* of the queue pool */
    bool has_gate;           /* the subrequest before each gated request */
    bool takes_proxy_header; /* listen … proxy_protocol: a load balancer is in front of it */
    bool names_header;       /* real_ip_header */
    int64_t backlog;         /* the longest one configured */
    int64_t connections;
    int64_t files; /* worker_rlimit_nofile; 0: not set */
    struct ip_network trusted[NETWORKS_MAX];
    size_t trusted_count;
    const char *certificates[CERTIFICATES_MAX];
    size_t certificate_count;
    const char *pid_file;
};

static void take_listen(struct site *site, const struct nginx_directive *directive)
{
    for (size_t i = 1; i < directive->count; i++) {
        struct str name;
        struct str value;
        int64_t backlog;
        if (str_equal(directive->words[i], STR("proxy_protocol"))) {
            site->takes_proxy_header = true;
        }
        if (str_split(directive->words[i], '=', &name, &value) && str_equal(name, STR("backlog")) &&
            str_to_int64(value, 1, INT32_MAX, &backlog) && backlog > site->backlog) {
            site->backlog = backlog;
        }
    }
}

static void take_number(const struct nginx_directive *directive, int64_t *number)
{
    if (directive->count > 1) {
        (void)str_to_int64(directive->words[1], 1, INT32_MAX, number);
    }
}

static void take(struct arena *arena, struct site *site, const struct nginx_directive *directive)
{
    if (directive->count < 2) {
        return;
    }
    struct str first = directive->words[1];
    if (nginx_is(directive, "upstream")) {
        site->has_upstream |= str_equal(first, STR("sluice_queue"));
    } else if (nginx_is(directive, "location")) {
        site->has_gate |=
            directive->count > 2 && str_equal(directive->words[2], STR("/_sluice/check"));
    } else if (nginx_is(directive, "listen")) {
        take_listen(site, directive);
    } else if (nginx_is(directive, "worker_connections")) {
        take_number(directive, &site->connections);
    } else if (nginx_is(directive, "worker_rlimit_nofile")) {
        take_number(directive, &site->files);
    } else if (nginx_is(directive, "real_ip_header")) {
        site->names_header = true;
    } else if (nginx_is(directive, "set_real_ip_from")) {
        if (site->trusted_count < NETWORKS_MAX &&
            ip_network_parse(first, &site->trusted[site->trusted_count])) {
            site->trusted_count++;
        }
    } else if (nginx_is(directive, "ssl_certificate")) {
        if (site->certificate_count < CERTIFICATES_MAX && first.n > 0 && first.p[0] == '/') {
            site->certificates[site->certificate_count++] = arena_copy(arena, first);
        }
    } else if (nginx_is(directive, "pid")) {
        site->pid_file = arena_copy(arena, first);
    }
}

static void read_site(struct doctor *doctor, struct str text, struct site *site)
{
    struct nginx_reader reader;
    struct nginx_directive directive;

    *site = (struct site){
        .backlog = BACKLOG_USUAL, .connections = CONNECTIONS_USUAL, .pid_file = "/run/nginx.pid"};
    nginx_reader_start(&reader, doctor->arena, text);
    while (nginx_reader_next(&reader, &directive)) {
        take(doctor->arena, site, &directive);
    }
}

/** Opens a file that no other user can have written: nginx -T loads the modules that its
 *  configuration names, with our privileges, and the folder may be any, such as ./data. NULL if
 *  there is none. */
static FILE *open_own(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

    if (fd < 0) {
        return NULL;
    }
    bool ours = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
                (status.st_uid == geteuid() || status.st_uid == 0) &&
                (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    FILE *file = ours ? fdopen(fd, "re") : NULL;
    if (file == NULL) {
        (void)close(fd);
    }
    return file;
}

/** nginx's main file: from the command line, or of scripts/run; NULL for nginx's own. */
static const char *main_file(struct doctor *doctor)
{
    char place[PLACE_MAX];

    if (doctor->invocation->nginx[0] != '\0') {
        return doctor->invocation->nginx;
    }
    FILE *file = open_own(arena_format(doctor->arena, "%s/run.place", doctor->invocation->data));
    if (file == NULL) {
        return NULL;
    }
    char *line = fgets(place, sizeof(place), file);
    (void)fclose(file);
    if (line == NULL) {
        return NULL;
    }
    place[strcspn(place, "\n")] = '\0';
    return arena_format(doctor->arena, "%s/nginx/sluice.conf", place);
}

/** Has nginx test and print its configuration; false, with a finding, if it refuses it. */
static bool ask_nginx(struct doctor *doctor, struct str *text)
{
    const char *file = main_file(doctor);
    const char *slash = file == NULL ? NULL : strrchr(file, '/');
    const char *folder =
        slash == NULL ? "." : arena_copy(doctor->arena, str_sized(file, (size_t)(slash - file)));
    const char *const own[] = {"nginx", "-T", "-e", "stderr", NULL};
    const char *const named[] = {"nginx", "-T", "-e", "stderr", "-p", folder, "-c", file, NULL};
    struct program_output printed;

    if (!program_output(doctor->arena, file == NULL ? own : named, SECONDS_MOST, &printed)) {
        doctor_note(doctor, "nginx.config", FINDING_FAIL,
                    "Install nginx, or run doctor on its machine.", "there is no nginx here");
        return false;
    }
    struct str first;
    struct str rest;
    (void)str_split(printed.errors, '\n', &first, &rest);
    doctor_check(doctor, "nginx.config", printed.status == 0, FINDING_FAIL,
                 "Correct what nginx -t reports: until then a reload has no effect, and nginx "
                 "cannot restart.",
                 printed.status == 0 ? "nginx -t accepts %s" : "nginx -t refuses %s: %.*s",
                 file == NULL ? "its configuration" : file, STR_ARG(first));
    *text = printed.output;
    return printed.status == 0;
}

static void check_version(struct doctor *doctor)
{
    const char *const words[] = {"nginx", "-v", NULL};
    struct program_output printed;
    struct str before;
    struct str version;
    struct str minor;
    int64_t number = 0;

    if (!program_output(doctor->arena, words, SECONDS_MOST, &printed) ||
        !str_split(printed.errors, '/', &before, &version)) {
        return;
    }
    (void)str_split(version, '\n', &version, &before);
    (void)str_split(version, '.', &before, &minor);
    (void)str_split(minor, '.', &minor, &before);
    (void)str_to_int64(minor, 0, INT32_MAX, &number);
    doctor_check(doctor, "nginx.version", number >= OLDEST_MINOR, FINDING_WARN,
                 "Sluice is tested with nginx 1.22 and later.", "nginx has version %.*s",
                 STR_ARG(version));
}

/** How many files a worker may open: from its configuration, else the limit of the running
 *  master. */
static int64_t files_of(struct doctor *doctor, const struct site *site)
{
    const struct str name = STR("Max open files");
    char line[256];
    int64_t pid = 0;
    int64_t files = 0;
    struct rlimit own;
    FILE *file = site->files > 0 ? NULL : fopen(site->pid_file, "re");

    if (site->files > 0) {
        return site->files;
    }
    if (file != NULL) {
        if (fgets(line, sizeof(line), file) != NULL) {
            line[strcspn(line, "\n")] = '\0';
            (void)str_to_int64(str_of(line), 1, INT32_MAX, &pid);
        }
        (void)fclose(file);
    }
    file = pid == 0 ? NULL
                    : fopen(arena_format(doctor->arena, "%s/%" PRId64 "/limits",
                                         doctor->invocation->proc, pid),
                            "re");
    while (file != NULL && files == 0 && fgets(line, sizeof(line), file) != NULL) {
        if (str_starts(str_of(line), name)) {
            files = strtoll(line + name.n, NULL, 10); /* 0 if unlimited */
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return files > 0 || getrlimit(RLIMIT_NOFILE, &own) != 0 ? files : (int64_t)own.rlim_cur;
}

static void check_size(struct doctor *doctor, const struct site *site)
{
    int64_t files = files_of(doctor, site);
    int64_t most = doctor_kernel_number(doctor, "sys/net/core/somaxconn");

    doctor_check(
        doctor, "nginx.open-files", files >= 2 * site->connections, FINDING_FAIL,
        arena_format(doctor->arena,
                     "Set worker_rlimit_nofile %" PRId64
                     " in nginx's main file: each client may need a file and one more for a "
                     "worker's socket.",
                     2 * site->connections + 64),
        "a worker may open %" PRId64 " files, and serves %" PRId64 " connections", files,
        site->connections);
    if (most >= 0) {
        doctor_check(doctor, "nginx.backlog", site->backlog <= most, FINDING_WARN,
                     "Raise net.core.somaxconn to nginx's backlog, or lower that: the kernel takes "
                     "the smaller of the two.",
                     "nginx asks for a backlog of %" PRId64 ", somaxconn is %" PRId64,
                     site->backlog, most);
    }
}

static bool is_covered(const struct site *site, const struct ip_network *network)
{
    for (size_t i = 0; i < site->trusted_count; i++) {
        if (site->trusted[i].bits <= network->bits &&
            ip_network_holds(&site->trusted[i], &network->base)) {
            return true;
        }
    }
    return false;
}

/** True if a network is trusted that contains every address. */
static bool trusts_all(const struct site *site)
{
    for (size_t i = 0; i < site->trusted_count; i++) {
        if (site->trusted[i].bits == 0) {
            return true;
        }
    }
    return false;
}

static void check_balancers(struct doctor *doctor, const struct site *site)
{
    static const char WHAT_TO_DO[] =
        "In nginx's http block put set_real_ip_from with the load balancer's addresses and "
        "real_ip_header (X-Forwarded-For with real_ip_recursive on, or proxy_protocol): otherwise "
        "all clients look like one, and the limits by address throttle everyone.";
    struct str rest = str_of(doctor->invocation->load_balancer);

    while (rest.n > 0) {
        struct str one;
        struct ip_network network;
        (void)str_split(rest, ',', &one, &rest);
        one = str_trim(one);
        if (!ip_network_parse(one, &network)) {
            doctor_note(doctor, "nginx.real-ip", FINDING_FAIL,
                        "Give --load-balancer addresses or networks, like 10.0.0.5,10.1.0.0/16.",
                        "'%.*s' is not an address", STR_ARG(one));
            continue;
        }
        bool covered = is_covered(site, &network);
        doctor_check(
            doctor, "nginx.real-ip", covered && site->names_header, FINDING_FAIL, WHAT_TO_DO,
            !covered ? "set_real_ip_from does not name the load balancer %.*s"
            : site->names_header
                ? "the load balancer %.*s is trusted to name clients"
                : "%.*s is trusted, but no real_ip_header names the header with the address",
            STR_ARG(one));
    }
    if (site->takes_proxy_header && site->trusted_count == 0) {
        doctor_note(doctor, "nginx.real-ip", FINDING_FAIL, WHAT_TO_DO,
                    "nginx listens with proxy_protocol, so a load balancer is in front of it, but "
                    "there is no set_real_ip_from");
    }
    if (trusts_all(site)) {
        doctor_note(doctor, "nginx.real-ip", FINDING_FAIL,
                    "Name only the load balancer in set_real_ip_from.",
                    "set_real_ip_from trusts every address: any client can claim any address and "
                    "evade every limit");
    } else if (doctor->invocation->load_balancer[0] == '\0' && !site->takes_proxy_header) {
        doctor_note(
            doctor, "nginx.real-ip", FINDING_OK, "",
            site->trusted_count > 0
                ? "set_real_ip_from names the load balancer in front of nginx"
                : "no load balancer is known; if there is one, name it with --load-balancer");
    }
}

static void check_certificate(struct doctor *doctor, const char *path)
{
    FILE *file = fopen(path, "re");
    X509 *certificate = file == NULL ? NULL : PEM_read_X509(file, NULL, NULL, NULL);
    int days = 0;
    int seconds = 0;

    if (file != NULL) {
        (void)fclose(file);
    }
    if (certificate == NULL ||
        ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(certificate)) != 1) {
        doctor_note(doctor, "nginx.certificate", FINDING_WARN,
                    "Run doctor as a user who may read it.", "%s cannot be read", path);
    } else {
        bool over = days < 0 || seconds < 0;
        doctor_check(doctor, "nginx.certificate", !over && days >= CERTIFICATE_WARN_DAYS,
                     over ? FINDING_FAIL : FINDING_WARN,
                     "Renew it and reload nginx, well before the opening.",
                     over ? "%s expired %d days ago" : "%s is valid for %d days", path,
                     over ? -days : days);
    }
    X509_free(certificate);
}

void doctor_nginx(struct doctor *doctor)
{
    struct str text;
    struct site site;

    if (!ask_nginx(doctor, &text)) {
        return;
    }
    check_version(doctor);
    read_site(doctor, text, &site);
    doctor_check(
        doctor, "nginx.include", site.has_upstream && site.has_gate, FINDING_FAIL,
        "Include the gate's http.conf in the http block and its server.conf in the server block "
        "of the site (docs/guide/gate.md).",
        !site.has_upstream ? "no upstream sluice_queue: Sluice's part is not in nginx's http "
                             "block"
        : site.has_gate    ? "Sluice's parts are in the http block and in a server block"
                           : "no location /_sluice/check: Sluice's part is in no server block");
    check_size(doctor, &site);
    check_balancers(doctor, &site);
    for (size_t i = 0; i < site.certificate_count; i++) {
        check_certificate(doctor, site.certificates[i]);
    }
}
