/* The exceptions that C++ programs catch. */
#ifndef TRISCOPE_GEOPM_EXCEPTION_HPP
#define TRISCOPE_GEOPM_EXCEPTION_HPP

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

#include "geopm_error.h"

namespace geopm {

/* Returns a sentence about an error's number, one of geopm_error.h. */
inline std::string error_message(int error_value) {
    char text[256];
    geopm_error_message(error_value, text, sizeof text);
    return text;
}

/* An error with its number: what() has the sentence, what was done, and the place. */
class Exception : public std::runtime_error {
  public:
    /* A runtime error without a text. */
    Exception() : Exception("", GEOPM_ERROR_RUNTIME, nullptr, 0) {}
    /* `err`: a number of geopm_error.h; `file` and `line`: where it was thrown, nullptr to leave that out. */
    Exception(const std::string &what, int err, const char *file = nullptr, int line = 0)
        : std::runtime_error(error_message(err) + (what.empty() ? "" : ": " + what) +
                             (file ? " at " + std::string(file) + ":" + std::to_string(line) : "")),
          m_err(err) {}
    /* Returns the number of the error, one of geopm_error.h. */
    int err_value() const { return m_err; }

  private:
    int m_err;
};

/*
 * Returns the number of a caught exception: 0 for none, GEOPM_ERROR_RUNTIME for other exceptions of the standard library.
 * Prints its text on stderr if `do_print`.
 */
inline int exception_handler(std::exception_ptr thrown, bool do_print = false) {
    try {
        if (thrown) std::rethrow_exception(thrown);
        return 0;
    } catch (const Exception &error) {
        if (do_print) std::fprintf(stderr, "%s\n", error.what());
        return error.err_value();
    } catch (const std::exception &error) {
        if (do_print) std::fprintf(stderr, "%s\n", error.what());
        return GEOPM_ERROR_RUNTIME;
    }
}

}
#endif
